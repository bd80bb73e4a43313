package lint

import (
	"regexp"
	"strings"
	"testing"

	"github.com/bhsize/bhsize/internal/diag"
)

func TestRegistry(t *testing.T) {
	id := regexp.MustCompile(`^[a-z]+/([a-z-]+|\*)$`)
	seen := map[string]bool{}
	for _, r := range Rules() {
		if !id.MatchString(r.ID) || seen[r.ID] || r.About == "" || strings.Contains(r.About, "\n") || r.Check == nil {
			t.Errorf("rule %q, about %q: an id of family/name used once, one line about it, and a check are wanted", r.ID, r.About)
		}
		seen[r.ID] = true
	}
}

// TestRunSeesAllFiles: findings of several files come sorted, each with a rule,
// a position in its file, what is wrong and what to do.
func TestRunSeesAllFiles(t *testing.T) {
	const over = "version: 1\nservice: s\npools: {p: {size: 10}}\nbulkheads: {x: {permits: 11}}\n"
	const typo = "version: 1\nservice: s\npools: {p: {size: 10}}\nbulkheads: {x: {permit: 1}}\n"
	const good = "version: 1\nservice: s\npools: {p: {size: 10}}\nbulkheads: {x: {permits: 1}}\n"
	all := Run(Input{Files: []*File{Read("b.yaml", []byte(over)), Read("a.yaml", []byte(typo)), Read("c.yaml", []byte(good))}})
	var got []string
	for _, f := range all {
		got = append(got, f.Position.File+" "+f.Rule)
		if f.Severity != diag.Error || f.Position.Line < 1 || f.Position.Column < 1 || f.Message == "" || f.Fix == "" || len(f.Related) == 0 {
			t.Errorf("finding %+v lacks something", f)
		}
	}
	if want := "a.yaml schema/unknown-field, b.yaml budget/overcommit"; strings.Join(got, ", ") != want {
		t.Errorf("findings %v, want %s", got, want)
	}
}

// TestAnOvercommittedFileIsStillRead: mending it is what recommend is for.
func TestAnOvercommittedFileIsStillRead(t *testing.T) {
	f := Read("a.yaml", []byte("version: 1\nservice: s\npools: {p: {size: 10}}\nbulkheads: {x: {permits: 11}}\n"))
	if f.Parsed == nil || len(f.Problems) != 1 {
		t.Errorf("parsed %v, problems %v; want the file and the one problem", f.Parsed, f.Problems)
	}
}
