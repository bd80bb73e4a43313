package report

import (
	"fmt"
	"io"

	"github.com/prometheus/common/model"

	"github.com/bhsize/bhsize/internal/diag"
	"github.com/bhsize/bhsize/internal/plan"
)

// Explain writes how one bulkhead's number comes about, line by line, and the
// PromQL that was sent, for a doubting colleague to paste into Prometheus.
func Explain(w io.Writer, s *plan.Service, b *plan.Bulkhead, width int) error {
	p := &page{width: width}
	p.line("%s", strong.Render(diag.Plain(b.Spec.Name)+" of "+diag.Plain(s.Name)))
	p.item(" ", fmt.Sprintf("pool %s, %s, a permit covers one %s", b.Spec.Pool, b.Spec.Criticality, b.Spec.Covers))
	p.item(" ", measured(s))
	p.line("")
	p.steps(derivation(b))
	if b.Failure != "" {
		p.title("not sized")
		p.item("  *", b.Failure+"; "+b.Next)
	}
	p.list("excluded", excludedLines(&plan.Service{Bulkheads: []*plan.Bulkhead{b}}))
	p.list("low confidence", texts(b.Doubts))
	p.list("notes", texts(b.Notes))
	p.queries(s, b)
	_, err := io.WriteString(w, p.String())
	return err
}

func (p *page) list(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	p.title(title)
	for _, l := range lines {
		p.item("  *", l)
	}
}

// queries prints what was sent. Expressions are never wrapped: they are to be pasted.
func (p *page) queries(s *plan.Service, b *plan.Bulkhead) {
	m := s.Measurement
	if m == nil {
		return
	}
	p.title("queries")
	if b.Measured != nil {
		p.item(" ", fmt.Sprintf("each answers for all dependencies; this one is %s. Range %s to %s.", b.Measured.Match, at(m.Start), at(m.End)))
	}
	for _, q := range m.Queries {
		p.line("\n%s", faint.Render(fmt.Sprintf("  # %s, step %s", q.Purpose, model.Duration(q.Step))))
		p.line("  %s", diag.Plain(q.Expr))
	}
}
