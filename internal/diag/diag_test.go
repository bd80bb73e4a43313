package diag

import (
	"regexp"
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	tests := []struct{ in, want, why string }{
		{"payments", "payments", "ordinary text stays as it is"},
		{"größe 支払い", "größe 支払い", "other scripts are ordinary"},
		{"a\x1b[31mred", `a\x1b[31mred`, "no escape sequence reaches the terminal"},
		{"a\nb\tc\rd", `a\nb\tc\rd`, "one value, one line"},
		{"user\u202egnp.exe", `user\u202egnp.exe`, "no text that runs backwards"},
		{"a\u2028b", `a\u2028b`, "line separators are line ends to some"},
		{"\xff\xfe", `\xff\xfe`, "invalid bytes are shown"},
		{"\u009b31m", `\u009b31m`, "the one-byte escape introducer"},
		{"\ufffd", "\ufffd", "a real replacement character is no error"},
	}
	for _, tt := range tests {
		if got := Plain(tt.in); got != tt.want {
			t.Errorf("Plain(%q) = %q, want %q: %s", tt.in, got, tt.want, tt.why)
		}
	}
}

func TestTextGolden(t *testing.T) {
	src := "version: 1\r\n\tpools: {\u652f: 3, timeout: 400}\r\n"
	f := Finding{Rule: "schema/unit", Severity: Error, Position: Position{"a.yaml", 2, 25}, Message: "timeout: 400 has no unit",
		Fix: "write 400ms", Related: []Related{{Position{"b.cue", 7, 1}, "the schema"}}}
	var b strings.Builder
	if err := Text(&b, []Finding{f}, func(string) []byte { return []byte(src) }); err != nil {
		t.Fatal(err)
	}
	want := `a.yaml:2:25: error: timeout: 400 has no unit [schema/unit]
    2 |  pools: {支: 3, timeout: 400}
      |                          ^
  = write 400ms
  = b.cue:7:1: the schema
`
	if got := unstyled(b.String()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func unstyled(s string) string { return regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(s, "") }

// TestSnippetStaysShort: a generated line of a megabyte is cut around the caret.
func TestSnippetStaysShort(t *testing.T) {
	src := []byte(strings.Repeat("x", 1<<20) + "here")
	got := unstyled(snippet(Position{"a", 1, 1<<20 + 1}, func(string) []byte { return src }))
	lines := strings.Split(got, "\n")
	if len(lines[0]) > 200 || !strings.Contains(lines[0], "here") || strings.Index(lines[1], "^") != strings.Index(lines[0], "here") {
		t.Errorf("got\n%s\nwant the text around the caret, which stands under it", got)
	}
}

func TestPositionOutsideTheFile(t *testing.T) {
	for _, p := range []Position{{"a", 0, 0}, {"a", 9, 1}, {"a", 1, 99}, {"a", 1, 0}} {
		if got := snippet(p, func(string) []byte { return []byte("one line") }); strings.Count(got, "\n") > 2 {
			t.Errorf("%v: %q", p, got)
		}
	}
}

func TestSortAndWorst(t *testing.T) {
	all := []Finding{{Rule: "b", Position: Position{"b", 1, 1}}, {Rule: "z", Position: Position{"a", 2, 1}, Severity: Warning}, {Rule: "a", Position: Position{"a", 2, 1}}, {Rule: "c", Position: Position{"a", 1, 9}}}
	Sort(all)
	var order []string
	for _, f := range all {
		order = append(order, f.Rule)
	}
	if got := strings.Join(order, ""); got != "cazb" {
		t.Errorf("order %s, want c a z b: file, line, column, rule", got)
	}
	if worst, ok := Worst(all); !ok || worst != Warning {
		t.Errorf("worst %v, %v, want warning", worst, ok)
	}
	if _, ok := Worst(nil); ok {
		t.Error("no findings have no worst one")
	}
}
