package schema_test

import (
	"testing"

	"github.com/bhsize/bhsize/schema"
)

// TestSyntaxErrorsStandWhereTheyAre: the parser names the line on which the
// construct began; the user needs the one that is wrong.
func TestSyntaxErrorsStandWhereTheyAre(t *testing.T) {
	const head = "version: 1\nservice: s\n# a comment\npools:\n  p: {size: 10}\nbulkheads:\n  a:\n    permits: 1\n"
	tests := []struct {
		text         string
		line, column int
		why          string
	}{
		{head + "   b: {}\n", 9, 4, "an indent between two levels"},
		{head + "  b: *zz\n", 9, 3, "an alias of nothing"},
		{head + "  b: 'open\n", 9, 3, "a quote that never ends"},
		{head + "\n# more\n  b: {permits: 1\n", 11, 3, "a brace that never ends, behind a comment"},
		{head + "  b: ]\n  c: {}\n", 9, 3, "a bracket from nowhere, with more below"},
		{"}\n" + head, 1, 1, "the first line"},
	}
	for _, tt := range tests {
		_, problems := schema.Load("a.yaml", []byte(tt.text))
		if len(problems) != 1 || problems[0].Rule != schema.RuleSyntax || problems[0].Pos.Line != tt.line || problems[0].Pos.Column != tt.column {
			t.Errorf("%s: %v, want one syntax problem at %d:%d", tt.why, problems, tt.line, tt.column)
		}
	}
}
