package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/bhsize/bhsize/internal/diag"
	"github.com/bhsize/bhsize/internal/plan"
)

// Markdown writes the plan as GitHub-flavoured Markdown, for a pull request.
func Markdown(w io.Writer, p *plan.Plan) error {
	var b strings.Builder
	for _, s := range p.Services {
		markdownService(&b, s)
	}
	for _, backend := range p.Backends {
		markdownList(&b, "Backend "+escape(backend.Name), backendLines(backend))
	}
	_, err := io.WriteString(w, strings.TrimPrefix(b.String(), "\n"))
	return err
}

func markdownService(b *strings.Builder, s *plan.Service) {
	fmt.Fprintf(b, "\n### Bulkheads of %s\n\n%s.\n\n", escape(s.Name), escape(measured(s)))
	cols := append([]column{name}, recommendColumns()...)
	var titles []string
	for _, c := range cols {
		titles = append(titles, strings.ToLower(c.title))
	}
	rows := make([][]string, len(s.Bulkheads))
	for i, bulkhead := range s.Bulkheads {
		for _, c := range cols {
			rows[i] = append(rows[i], c.value(bulkhead))
		}
	}
	markdownTable(b, titles, rows)
	for _, pool := range s.Pools {
		markdownPool(b, pool)
	}
	markdownList(b, "Not sized", failureLines(s))
	markdownList(b, "Left out of peak and p99 (unhealthy slots)", excludedLines(s))
	markdownList(b, "Low confidence", doubtLines(s))
	markdownList(b, "Notes", noteLines(s))
}

func markdownPool(b *strings.Builder, pool *plan.Pool) {
	fmt.Fprintf(b, "\n**Pool %s**: %s\n", escape(pool.Spec.Name), escape(budgetLine(pool)))
	if pool.Excess > 0 {
		fmt.Fprintf(b, "\nIt %s.\n\n", excessLine(pool))
		markdownCuts(b, pool)
	}
	markdownList(b, "If dependencies stall", riskLines(pool))
}

func markdownCuts(b *strings.Builder, pool *plan.Pool) {
	var rows [][]string
	for _, c := range pool.Cuts {
		rows = append(rows, []string{c.Name, fmt.Sprint(c.From), fmt.Sprint(c.To), probability(c.ShedBefore), probability(c.ShedAfter), cutReason(c)})
	}
	if len(rows) > 0 {
		markdownTable(b, []string{"cut", "from", "to", "shed before", "shed after", "why"}, rows)
	}
	markdownList(b, "What would do", remedyLines(pool))
}

func markdownTable(b *strings.Builder, titles []string, rows [][]string) {
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(titles, " | "), " --- |"+strings.Repeat(" ---: |", len(titles)-1))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = escape(c)
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}

func markdownList(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n**%s**\n\n", title)
	for _, l := range lines {
		fmt.Fprintf(b, "- %s\n", escape(l))
	}
}

// escaper neutralises what Markdown and the HTML inside it would act on,
// mentions and table bars included.
var escaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "{", `\{`, "}", `\}`, "[", `\[`, "]", `\]`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "#", `\#`, "|", `\|`, "~", `\~`, "@", "&#64;", "!", `\!`, "$", `\$`)

func escape(s string) string { return escaper.Replace(diag.Plain(s)) }
