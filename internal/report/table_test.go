package report

import (
	"math"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"
)

func float64NaN() float64 { return math.NaN() }

func zeroTime() time.Time { return time.Time{} }

var sample = grid{
	titles: []string{"NAME", "FIRST", "SECOND", "THIRD"},
	rows:   [][]string{{"payments", "1", "22", "333"}, {"a-name-that-is-much-longer-than-any-screen-has-room-for", "4", "5", "6"}},
}

// TestNoColumnIsLost: at any width every value is still there, and no line is
// wider than the screen once the screen is wide enough for one column.
func TestNoColumnIsLost(t *testing.T) {
	for width := 1; width <= 200; width++ {
		text := sample.render(width)
		for _, want := range []string{"FIRST", "SECOND", "THIRD", "333", "22"} {
			if !strings.Contains(text, want) {
				t.Fatalf("width %d: %q is missing from\n%s", width, want, text)
			}
		}
		for line := range strings.Lines(text) {
			if w := lipgloss.Width(strings.TrimRight(line, "\n")); width >= 20 && w > width {
				t.Fatalf("width %d: a line of %d columns:\n%s", width, w, text)
			}
		}
	}
}

func TestTableGolden(t *testing.T) {
	g := grid{titles: []string{"N", "WHY", "X"}, rows: [][]string{{"a", "words", "1"}, {"bb", "w", "22"}}, left: map[int]bool{1: true},
		mark: func(row int) bool { return row == 1 }}
	want := strings.Join([]string{"N     WHY     X", "  a   words   1", "> bb  w      22"}, "\n")
	if got := plainText(g.render(80)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// plainText drops the styling.
func plainText(s string) string {
	var b strings.Builder
	inside := false
	for _, r := range s {
		switch {
		case r == '\x1b':
			inside = true
		case inside && r == 'm':
			inside = false
		case !inside:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func TestBudgetBar(t *testing.T) {
	tests := []struct {
		permits, budget, reserved, width int
		want, why                        string
	}{
		{45, 90, 10, 23, "[█████████░░░░░░░░░|▒▒]", "half of 90 %, a tenth reserved"},
		{0, 90, 10, 23, "[░░░░░░░░░░░░░░░░░░|▒▒]", "nothing taken"},
		{90, 90, 10, 23, "[██████████████████|▒▒]", "just full"},
		{91, 90, 10, 23, "[█████████████████!|▒▒]", "one too many is always visible"},
		{900, 90, 10, 23, "[█!!!!!!!!!!!!!!!!!!|▒]", "ten times too many"},
		{5, 10, 0, 13, "[█████░░░░░|]", "nothing reserved"},
	}
	for _, tt := range tests {
		if got := plainText(budgetBar(tt.permits, tt.budget, tt.reserved, tt.width)); got != tt.want {
			t.Errorf("bar(%d of %d + %d) = %s, want %s: %s", tt.permits, tt.budget, tt.reserved, got, tt.want, tt.why)
		}
	}
	for permits := 0; permits <= 300; permits += 7 {
		if w := lipgloss.Width(budgetBar(permits, 90, 10, 40)); w != 40 {
			t.Errorf("%d permits: a bar of %d columns, want 40", permits, w)
		}
	}
}

func TestProbability(t *testing.T) {
	for p, want := range map[float64]string{0: "0 %", 1e-9: "<0.0001 %", 0.0184: "1.8 %", 0.5: "50 %", 0.21458: "21.5 %", 1: "100 %", 0.000026: "0.0026 %", 0.00000126: "0.00013 %"} {
		if got := probability(&p); got != want {
			t.Errorf("probability(%g) = %q, want %q", p, got, want)
		}
	}
	if got := probability(nil); got != unknown {
		t.Errorf("probability(nil) = %q, want %q", got, unknown)
	}
}

func TestMarkdownIsInert(t *testing.T) {
	hostile := "<img src=x onerror=alert(1)> | [a](javascript:b) `c` **d** @team #1 \x1b[31m\u202e"
	got := escape(hostile)
	for _, bad := range []string{"<img", "| ", "[a](", "`c`", "**", "@team", "\x1b", "\u202e"} {
		if strings.Contains(strings.ReplaceAll(got, `\|`, ""), bad) {
			t.Errorf("escape left %q in %q", bad, got)
		}
	}
}
