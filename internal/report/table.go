package report

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/charmbracelet/x/ansi"
)

// grid is a table of text cells. The first column names the row.
type grid struct {
	titles []string
	rows   [][]string
	// left are the columns whose cells are words; all others are flush right.
	left map[int]bool
	// style of a cell, nil for none.
	style func(row, col int) lipgloss.Style
	// mark puts an arrow before a row, so that it stands out without colour too.
	mark func(row int) bool
}

// gap is what stands between two columns.
const gap = 2

// widest bounds the first column, so that a long name leaves room for numbers.
const widest = 40

// render draws the grid in at most width columns. What does not fit beside the
// first column goes into a further table below: no column is ever lost.
func (g grid) render(width int) string {
	g = g.marked()
	widths := g.widths(width)
	var parts []string
	for _, cols := range pack(widths, width) {
		parts = append(parts, g.part(cols, widths))
	}
	return strings.Join(parts, "\n\n")
}

func (g grid) marked() grid {
	if g.mark == nil {
		return g
	}
	rows := make([][]string, len(g.rows))
	for i, row := range g.rows {
		rows[i] = slices.Clone(row)
		if g.mark(i) {
			rows[i][0] = "> " + row[0]
		} else {
			rows[i][0] = "  " + row[0]
		}
	}
	g.rows = rows
	return g
}

func (g grid) widths(width int) []int {
	widths := make([]int, len(g.titles))
	for i, t := range g.titles {
		widths[i] = lipgloss.Width(t)
		for _, row := range g.rows {
			widths[i] = max(widths[i], lipgloss.Width(row[i]))
		}
	}
	widths[0] = min(widths[0], max(8, min(widest, width/2)))
	return widths
}

// pack distributes the columns over as few tables as fit.
func pack(widths []int, width int) [][]int {
	parts := [][]int{{0}}
	used := widths[0]
	for i := 1; i < len(widths); i++ {
		last := len(parts) - 1
		if used+gap+widths[i] > width && len(parts[last]) > 1 {
			parts = append(parts, []int{0})
			last++
			used = widths[0]
		}
		parts[last] = append(parts[last], i)
		used += gap + widths[i]
	}
	return parts
}

func (g grid) part(cols, widths []int) string {
	t := table.New().Border(lipgloss.HiddenBorder()).BorderTop(false).BorderBottom(false).BorderLeft(false).
		BorderRight(false).BorderHeader(false).BorderColumn(false).Wrap(false).
		Headers(g.line(g.titles, cols, widths)...).StyleFunc(func(row, at int) lipgloss.Style { return g.cell(row, cols, at) })
	for _, row := range g.rows {
		t.Row(g.line(row, cols, widths)...)
	}
	return trimRight(t.String())
}

func (g grid) line(row []string, cols, widths []int) []string {
	cells := make([]string, len(cols))
	for i, c := range cols {
		cells[i] = row[c]
		if c == 0 {
			cells[i] = ansi.Truncate(row[c], widths[0], "…")
		}
	}
	return cells
}

func (g grid) cell(row int, cols []int, at int) lipgloss.Style {
	col := cols[at]
	style := lipgloss.NewStyle()
	switch {
	case row == table.HeaderRow:
		style = heading
	case g.style != nil:
		style = g.style(row, col)
	}
	if at > 0 {
		style = style.PaddingLeft(gap)
	}
	if col == 0 || g.left[col] {
		return style
	}
	return style.Align(lipgloss.Right)
}

// trimRight drops the padding at the ends of lines: it only makes copies ugly.
func trimRight(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}
