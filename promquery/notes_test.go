package promquery

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func numbered(from, to int) []string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprint("note ", i))
	}
	return all
}

func TestNotes(t *testing.T) {
	for _, c := range []struct {
		why  string
		add  [][]string
		want []string
	}{
		{"none", nil, nil},
		{"each once, in order", [][]string{{"b", "a"}, {"a", "b", "c"}}, []string{"b", "a", "c"}},
		{"as many as are kept", [][]string{numbered(0, 20), numbered(0, 20)}, numbered(0, 20)},
		{"one more", [][]string{numbered(0, 21), numbered(0, 21)}, append(numbered(0, 20), "warnings that are not shown: 1")},
		{"far more, each time others", [][]string{numbered(0, 60_000), numbered(60_000, 120_000)}, append(numbered(0, 20), "warnings that are not shown: 9980 or more")},
		{"long ones", [][]string{{strings.Repeat("x", 1e6)}}, []string{strings.Repeat("x", maxText) + "..."}},
	} {
		var n notes
		for _, all := range c.add {
			n.add(all)
		}
		if d := cmp.Diff(c.want, n.texts()); d != "" {
			t.Errorf("%s (-want +got)\n%s", c.why, d)
		}
	}
}

// What this package says itself is not crowded out by a server.
func TestOwnWarningsStand(t *testing.T) {
	m := &measuring{out: &Measurement{}}
	m.notes.add(numbered(0, 1000))
	m.warn("mine")
	m.finish()
	if !slices.Contains(m.out.Warnings, "mine") || len(m.out.Warnings) != maxNotes+2 {
		t.Errorf("warnings %q", m.out.Warnings)
	}
}
