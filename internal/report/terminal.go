// Package report shows a Plan: on a terminal, as Markdown, as JSON, and as the
// derivation of one number. It computes nothing.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/prometheus/common/model"

	"github.com/bhsize/bhsize/internal/diag"
	"github.com/bhsize/bhsize/internal/plan"
	"github.com/bhsize/bhsize/sizing"
)

// Terminal writes the plan for people, in at most width columns where the
// words allow it.
func Terminal(w io.Writer, p *plan.Plan, width int) error {
	page := &page{width: width}
	for _, s := range p.Services {
		page.service(s)
	}
	for _, b := range p.Backends {
		page.backend(b)
	}
	_, err := io.WriteString(w, page.String())
	return err
}

// page collects lines. Text from outside is made plain on the way in.
type page struct {
	strings.Builder
	width int
}

func (p *page) line(format string, args ...any) {
	_, _ = fmt.Fprintf(p, format+"\n", args...) // to memory
}

// item writes a list entry, wrapped with a hanging indent.
func (p *page) item(mark, text string) {
	indent := lipgloss.Width(mark) + 1
	wrapped := ansi.Wrap(diag.Plain(text), max(20, p.width-indent), "")
	for i, l := range strings.Split(wrapped, "\n") {
		lead := strings.Repeat(" ", indent)
		if i == 0 {
			lead = mark + " "
		}
		p.line("%s%s", lead, l)
	}
}

func (p *page) title(text string) { p.line("\n%s", strong.Render(text)) }

func (p *page) service(s *plan.Service) {
	p.line("%s", strong.Render(diag.Plain(s.Name)))
	p.item(" ", measured(s))
	p.line("\n%s", bulkheadGrid(s).render(p.width))
	for _, pool := range s.Pools {
		p.pool(pool)
	}
	p.list("not sized", failureLines(s))
	p.list("left out of peak and p99 (unhealthy slots)", excludedLines(s))
	p.list("low confidence", doubtLines(s))
	p.list("notes", noteLines(s))
}

// measured says in one line what the numbers rest on.
func measured(s *plan.Service) string {
	m := s.Measurement
	if m == nil && slices.ContainsFunc(s.Bulkheads, func(b *plan.Bulkhead) bool { return b.Traffic != nil }) {
		return "sized from the traffic in " + s.File.Name
	}
	if m == nil {
		return "nothing to size from: no Prometheus was named, and there is no traffic in " + s.File.Name
	}
	return fmt.Sprintf("measured %s to %s, scraped every %s; peaks are averages over %s, read every %s: shorter ones are hidden",
		m.Start.Format(timeLayout), at(m.End), model.Duration(m.ScrapeInterval), model.Duration(m.RateWindow), model.Duration(m.Step))
}

func bulkheadGrid(s *plan.Service) grid {
	cols := append([]column{name}, recommendColumns()...)
	g := grid{}
	for _, c := range cols {
		g.titles = append(g.titles, c.title)
	}
	for _, b := range s.Bulkheads {
		var row []string
		for _, c := range cols {
			row = append(row, diag.Plain(c.value(b)))
		}
		g.rows = append(g.rows, row)
	}
	g.style = func(row, col int) lipgloss.Style { return cellStyle(s.Bulkheads[row], cols[col].title) }
	return g
}

func cellStyle(b *plan.Bulkhead, title string) lipgloss.Style {
	switch title {
	case "PERMITS":
		return strong
	case "SHED":
		if b.ShedsNoticeably() {
			return bad
		}
	case "CHANGE":
		if change(b.Now, b.Permits) != "0" {
			return warn
		}
	case "CONFIDENCE":
		return map[plan.Confidence]lipgloss.Style{plan.ConfidenceHigh: good, plan.ConfidenceLow: warn, plan.ConfidenceNone: bad}[b.Confidence]
	}
	return lipgloss.NewStyle()
}

func (p *page) pool(pool *plan.Pool) {
	spec := pool.Spec
	p.title("pool " + diag.Plain(spec.Name))
	p.line("%s %s", budgetBar(pool.Wanted, pool.Budget, spec.Reserved, min(p.width-30, 72)), faint.Render(legend(pool)))
	p.item(" ", budgetLine(pool))
	if !pool.Fits {
		p.line("\n  %s", bad.Render(fmt.Sprintf("does not fit: %s too many", plural(pool.Wanted-pool.Budget, "permit", "permits"))))
		p.cuts(pool)
	}
	if len(pool.LeftAfter) > 0 {
		p.item(" ", leftLine(pool))
	}
	if pool.Full != nil {
		p.item(" ", overcommitLine(pool))
	}
	if n := pool.ThreadsNeed; n != nil && spec.Size < *n {
		p.item(" ", fmt.Sprintf("%d callers that hold %d connections each can deadlock in a pool of %d: it needs %d", *spec.Threads, *spec.ConnectionsPerCall, spec.Size, *n))
	}
}

// legend says what the signs of the bar mean.
func legend(pool *plan.Pool) string {
	if pool.Fits {
		return "█ taken ░ free ▒ reserved"
	}
	return "█ fits ! too many ▒ reserved"
}

func budgetLine(pool *plan.Pool) string {
	spec := pool.Spec
	line := fmt.Sprintf("%d permits of %d available (size %d, %d reserved)", pool.Wanted, pool.Available, spec.Size, spec.Reserved)
	if spec.Overcommit != nil {
		line += fmt.Sprintf(", overcommit x%s: budget %d", number(spec.Overcommit.Ratio), pool.Budget)
	}
	if pool.Fits {
		line += ": fits"
	}
	if pool.NowKnown {
		line += fmt.Sprintf("; now %d", pool.Now)
	}
	if len(pool.Unsized) > 0 {
		line += fmt.Sprintf("; not sized, counted with their present permits: %s", strings.Join(pool.Unsized, ", "))
	}
	return line
}

func leftLine(pool *plan.Pool) string {
	var parts []string
	for i, left := range pool.LeftAfter {
		parts = append(parts, fmt.Sprintf("%d when the largest bulkhead is full", left))
		if i > 0 {
			parts[i] = fmt.Sprintf("%d when the %d largest are", left, i+1)
		}
	}
	return fmt.Sprintf("what stalls would leave of the %d: %s", pool.Spec.Size, strings.Join(parts, ", "))
}

func overcommitLine(pool *plan.Pool) string {
	o := pool.Full
	return fmt.Sprintf("overcommit: all at their peak, independent, the pool is full with probability %s; with %s stalled full, %s",
		probability(&o.Probability), o.Stalled, probability(&o.WhileStalled))
}

func (p *page) cuts(pool *plan.Pool) {
	g := grid{titles: []string{"CUT", "FROM", "TO", "SHED BEFORE", "SHED AFTER", "WHY"}, left: map[int]bool{5: true}}
	for _, c := range pool.Cuts {
		g.rows = append(g.rows, []string{diag.Plain(c.Name), fmt.Sprint(c.From), fmt.Sprint(c.To), probability(c.ShedBefore), probability(c.ShedAfter), cutReason(c)})
	}
	if len(g.rows) > 0 {
		p.line("\n%s\n", indent(g.render(p.width-2)))
	}
	for _, l := range remedyLines(pool) {
		p.item("  *", l)
	}
}

func indent(block string) string { return "  " + strings.ReplaceAll(block, "\n", "\n  ") }

func cutReason(c sizing.Cut) string {
	if c.Phase == sizing.CutHeadroom {
		return c.Criticality.String() + ", keeps its p99 demand"
	}
	return c.Criticality.String() + ", down to its mean in flight at most"
}

// remedyLines say what would make it fit.
func remedyLines(pool *plan.Pool) []string {
	var lines []string
	if pool.Short > 0 {
		lines = append(lines, fmt.Sprintf("even after all cuts %s are missing: nothing of this is written", plural(pool.Short, "permit", "permits")))
	}
	if pool.SizeFor != nil {
		lines = append(lines, fmt.Sprintf("a pool of %d would do without a cut", *pool.SizeFor))
	}
	if pool.InstancesFor != nil {
		lines = append(lines, fmt.Sprintf("so would %s of the service, sharing the load evenly", plural(*pool.InstancesFor, "instance", "instances")))
	}
	if len(pool.Unsized) > 0 {
		lines = append(lines, "without a number, and so not cut: "+strings.Join(pool.Unsized, ", "))
	}
	return lines
}

// failureLines say which bulkheads have no number, why, and what to do.
func failureLines(s *plan.Service) []string {
	var lines []string
	for _, b := range s.Bulkheads {
		if b.Failure != "" {
			lines = append(lines, fmt.Sprintf("%s: %s; %s", b.Spec.Name, b.Failure, b.Next))
		}
	}
	return lines
}

// excludedLines say what was masked, why, and what the numbers would have been.
func excludedLines(s *plan.Service) []string {
	var lines []string
	for _, b := range s.Bulkheads {
		d := b.Measured
		if d == nil || len(d.Masked) == 0 {
			continue
		}
		for _, m := range d.Masked {
			lines = append(lines, fmt.Sprintf("%s %s to %s: %s", b.Spec.Name, m.From.UTC().Format(timeLayout), at(m.To), m.Reason))
		}
		lines = append(lines, fmt.Sprintf("%s with them: p99 %s, peak %.3g/s an instance at %s; without: p99 %s, peak %.3g/s", b.Spec.Name,
			quantile(d.P99All), d.PeakInstanceAll.Value, at(d.PeakInstanceAll.At), quantile(d.P99), d.PeakInstance.Value))
	}
	return lines
}

// doubtLines lists the reasons for low confidence, each once.
func doubtLines(s *plan.Service) []string {
	var reasons []string
	who := map[string][]string{}
	for _, b := range s.Bulkheads {
		for _, d := range texts(b.Doubts) {
			if who[d] == nil {
				reasons = append(reasons, d)
			}
			who[d] = append(who[d], b.Spec.Name)
		}
	}
	for i, r := range reasons {
		names := strings.Join(who[r], ", ")
		if len(who[r]) == len(s.Bulkheads) && len(s.Bulkheads) > 1 {
			names = "all"
		}
		reasons[i] = names + ": " + r
	}
	return reasons
}

// noteLines are the notes of the measurement and of every bulkhead, equal ones together.
func noteLines(s *plan.Service) []string {
	lines := slices.Clone(s.Notes)
	var order []string
	who := map[string][]string{}
	for _, b := range s.Bulkheads {
		for _, n := range b.Notes {
			if who[n] == nil {
				order = append(order, n)
			}
			who[n] = append(who[n], b.Spec.Name)
		}
	}
	for _, n := range order {
		lines = append(lines, strings.Join(who[n], ", ")+": "+n)
	}
	return lines
}

func (p *page) backend(b plan.Backend) {
	p.title("backend " + diag.Plain(b.Name))
	verdict := "fits"
	if !b.Fits {
		verdict = "does not fit"
	}
	p.item(" ", fmt.Sprintf("%d of %d available (capacity %d, %d reserved, %d used by others), at the most instances and while rolling out: %s",
		b.Used, b.Available, b.Sizing.Capacity, b.Sizing.Reserved, b.Sizing.Others, verdict))
	for _, d := range b.Sizing.Draws {
		p.item("  *", fmt.Sprintf("%s: size %d x %d processes x %d instances", d.Name, d.Size, d.Processes, d.Instances))
	}
	if len(b.Unknown) > 0 {
		p.item("  *", "not counted, since the number of instances is unknown: "+strings.Join(b.Unknown, ", "))
	}
}
