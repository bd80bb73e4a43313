// Package report shows a Plan: on a terminal, as Markdown, as JSON, and as the
// derivation of one number. It computes nothing.
package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/prometheus/common/model"

	"github.com/bhsize/bhsize/internal/diag"
	"github.com/bhsize/bhsize/internal/plan"
	"github.com/bhsize/bhsize/promquery"
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
	return fmt.Sprintf("measured %s to %s, %s, scraped every %s; peaks are averages over %s, read every %s: shorter ones are hidden",
		m.Start.Format(timeLayout), at(m.End), asked(m), model.Duration(m.ScrapeInterval), model.Duration(m.RateWindow), model.Duration(m.Step))
}

// asked says which series the numbers come from.
func asked(m *promquery.Measurement) string {
	name := "series by hand"
	if m.Preset != "" {
		name = "preset " + m.Preset
	}
	return fmt.Sprintf("%s (%ss)", name, m.Series.Level)
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
	if pool.Excess > 0 {
		p.line("\n  %s", bad.Render(excessLine(pool)))
		p.cuts(pool)
	}
	for _, l := range riskLines(pool) {
		p.item(" ", l)
	}
}

func excessLine(pool *plan.Pool) string {
	return fmt.Sprintf("does not fit: %s too many", plural(pool.Excess, "permit", "permits"))
}

// legend says what the signs of the bar mean.
func legend(pool *plan.Pool) string {
	if pool.Excess == 0 {
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
	switch {
	case pool.Fits == nil:
		line += ": not known whether it fits"
	case *pool.Fits:
		line += ": fits"
	}
	if pool.NowKnown {
		line += fmt.Sprintf("; now %d", pool.Now)
	}
	if len(pool.Unsized) > 0 {
		line += fmt.Sprintf("; without a number, counted with the permits in the file, if any: %s", strings.Join(pool.Unsized, ", "))
	}
	return line
}

// riskLines are what stalls would leave, what overcommit costs, and deadlock.
func riskLines(pool *plan.Pool) []string {
	lines := slices.Clone(pool.Notes)
	if len(pool.LeftAfter) > 0 {
		lines = append(lines, leftLine(pool))
	}
	if pool.Full != nil {
		lines = append(lines, overcommitLine(pool))
	}
	if pool.Deadlocks {
		lines = append(lines, fmt.Sprintf("%d callers that hold %d connections each can deadlock in a pool of %d: it needs %d",
			*pool.Spec.Threads, *pool.Spec.ConnectionsPerCall, pool.Spec.Size, *pool.ThreadsNeed))
	}
	return lines
}

func leftLine(pool *plan.Pool) string {
	parts := []string{fmt.Sprintf("%d when the largest bulkhead is full", pool.LeftAfter[0])}
	for i, left := range pool.LeftAfter[1:] {
		parts = append(parts, fmt.Sprintf("%d when the %d largest are", left, i+2))
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

// cutReason says who gives way, and where it stops at the latest.
func cutReason(c sizing.Cut) string {
	switch c.Phase {
	case sizing.CutHeadroom:
		return c.Criticality.String() + ", keeps its p99 demand"
	case sizing.CutToMean:
		return c.Criticality.String() + ", keeps its mean in flight"
	}
	return c.Criticality.String() + ", below its p99 demand, keeps its mean in flight"
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
		lines = append(lines, fmt.Sprintf("%s with them: p99 %s, peak %s; without: p99 %s, peak %s", b.Spec.Name,
			quantile(d.P99All), peak(d.PeakInstanceAll), quantile(d.P99), peak(d.PeakInstance)))
	}
	return lines
}

// peak is a rate of the busiest instance with its moment.
func peak(p promquery.Peak) string {
	if math.IsNaN(p.Value) {
		return unknown
	}
	return fmt.Sprintf("%.3g/s an instance at %s", p.Value, at(p.At))
}

// doubtLines lists the reasons for low confidence, each once.
func doubtLines(s *plan.Service) []string {
	return grouped(s, func(b *plan.Bulkhead) []promquery.Remark { return b.Doubts })
}

// noteLines are the notes of the measurement and of every bulkhead.
func noteLines(s *plan.Service) []string {
	return append(slices.Clone(s.Notes), grouped(s, func(b *plan.Bulkhead) []promquery.Remark { return b.Notes })...)
}

// grouped lists remarks, each once, behind the bulkheads that have it.
func grouped(s *plan.Service, of func(*plan.Bulkhead) []promquery.Remark) []string {
	var order []string
	who := map[string][]string{}
	for _, b := range s.Bulkheads {
		for _, r := range of(b) {
			if who[r.Text] == nil {
				order = append(order, r.Text)
			}
			who[r.Text] = append(who[r.Text], b.Spec.Name)
		}
	}
	for i, text := range order {
		names := strings.Join(who[text], ", ")
		if len(who[text]) == len(s.Bulkheads) && len(s.Bulkheads) > 1 {
			names = "all"
		}
		order[i] = names + ": " + text
	}
	return order
}

func texts(remarks []promquery.Remark) []string {
	out := make([]string, len(remarks))
	for i, r := range remarks {
		out[i] = r.Text
	}
	return out
}

func (p *page) backend(b plan.Backend) {
	p.title("backend " + diag.Plain(b.Name))
	for _, l := range backendLines(b) {
		p.item(" ", l)
	}
}

// backendLines say what a backend carries, and whether it holds.
func backendLines(b plan.Backend) []string {
	lines := []string{fmt.Sprintf("%d of %d available (capacity %d, %d reserved; %d used by others), at the most instances and while rolling out: %s",
		b.Used, b.Available, b.Sizing.Capacity, b.Sizing.Reserved, b.Sizing.Others, verdict(b.Fits))}
	for _, d := range b.Sizing.Draws {
		lines = append(lines, fmt.Sprintf("%s: size %d x %d processes x %d instances", d.Name, d.Size, d.Processes, d.Instances))
	}
	if b.MostInstances != nil {
		lines = append(lines, fmt.Sprintf("it would hold for %s of %s, those of a roll-out included", plural(*b.MostInstances, "instance", "instances"), b.Sizing.Draws[0].Name))
	}
	if len(b.Unknown) > 0 {
		lines = append(lines, "not counted, since the number of instances is unknown (write instances into the file): "+strings.Join(b.Unknown, ", "))
	}
	return lines
}

func verdict(fits *bool) string {
	switch {
	case fits == nil:
		return "not known whether it fits"
	case *fits:
		return "fits"
	}
	return "does not fit"
}
