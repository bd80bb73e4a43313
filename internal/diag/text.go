package diag

import (
	"fmt"
	"io"
	"strings"

	"charm.land/lipgloss/v2"
)

// Sources gives the text of a file that a finding points into, nil when unknown.
type Sources func(file string) []byte

var severityStyle = map[Severity]lipgloss.Style{
	Info:    lipgloss.NewStyle().Foreground(lipgloss.Cyan).Bold(true),
	Warning: lipgloss.NewStyle().Foreground(lipgloss.Yellow).Bold(true),
	Error:   lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true),
}

var (
	faint = lipgloss.NewStyle().Faint(true)
	bold  = lipgloss.NewStyle().Bold(true)
)

// Text writes findings for people: `file:line:col: severity: message [rule]`,
// the source line with a caret, and what to do about it.
func Text(w io.Writer, all []Finding, sources Sources) error {
	for _, f := range all {
		if _, err := io.WriteString(w, block(f, sources)); err != nil {
			return err
		}
	}
	return nil
}

func block(f Finding, sources Sources) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s %s\n", bold.Render(f.Position.String()+":"), severityStyle[f.Severity].Render(f.Severity.String()+":"),
		Plain(f.Message), faint.Render("["+f.Rule+"]"))
	b.WriteString(snippet(f.Position, sources))
	if f.Fix != "" {
		fmt.Fprintf(&b, "  = %s\n", Plain(f.Fix))
	}
	for _, r := range f.Related {
		b.WriteString(faint.Render(fmt.Sprintf("  = %s: %s", r.Position, Plain(r.Text))) + "\n")
	}
	return b.String()
}

// String is file:line:col, or the file alone.
func (p Position) String() string {
	if p.Line == 0 {
		return Plain(p.File)
	}
	return fmt.Sprintf("%s:%d:%d", Plain(p.File), p.Line, p.Column)
}

// maxSnippet bounds the source shown: generated files have lines of megabytes.
const maxSnippet = 120

func snippet(p Position, sources Sources) string {
	if p.Line == 0 || sources == nil {
		return ""
	}
	line, ok := lineOf(sources(p.File), p.Line)
	if !ok {
		return ""
	}
	if hidden := RedactLine(line); hidden != line {
		return faint.Render(fmt.Sprintf("%5d | ", p.Line)) + Plain(hidden) + "\n" // no caret: columns have moved
	}
	before, after := cutAround([]rune(line), p.Column-1)
	gutter := fmt.Sprintf("%5d | ", p.Line)
	pad := strings.Repeat(" ", len(gutter)-2) + "| " + strings.Repeat(" ", lipgloss.Width(before))
	return faint.Render(gutter) + before + after + "\n" + faint.Render(pad) + severityStyle[Error].Render("^") + "\n"
}

// cutAround returns the text before and after a column, both made plain and
// short enough to show. Tabs become one space, so that the caret stands right.
func cutAround(line []rune, column int) (before, after string) {
	column = max(0, min(column, len(line)))
	from := max(0, column-maxSnippet/2)
	to := min(len(line), from+maxSnippet)
	return show(line[from:column]), show(line[column:to])
}

func show(part []rune) string { return Plain(strings.ReplaceAll(string(part), "\t", " ")) }

func lineOf(src []byte, n int) (string, bool) {
	text := strings.TrimPrefix(string(src), "\ufeff")
	for line := range strings.Lines(text) {
		if n--; n == 0 {
			return strings.TrimRight(line, "\r\n"), true
		}
	}
	return "", false
}
