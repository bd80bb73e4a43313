package schema_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bhsize/bhsize/schema"
)

// TestHostileFilesAreRefusedInGoodTime holds that nothing of up to 4 MiB takes
// longer than a CI job would wait.
func TestHostileFilesAreRefusedInGoodTime(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short, as CI's race detector is run, and that distorts what is measured here")
	}
	const most = 20 * time.Second // a loaded machine included
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, src := range map[string]string{
		"bulkheads.yaml":     head + "bulkheads:\n" + many(40_000, "  b%d: {}\n"),
		"unknown.yaml":       head + "bulkheads: {a: {}}\n" + many(45_000, "x%d: 1\n"),
		"unknown-in.yaml":    head + "bulkheads: {a: {}}\nx:\n" + many(45_000, "  x%d: 1\n"),
		"labels.yaml":        head + "bulkheads:\n  a:\n    match:\n" + many(20_000, "      l%d: [v]\n"),
		"exclude.yaml":       head + "bulkheads: {a: {}}\nmeasure:\n  exclude:\n" + many(12_000, "  - {from: 2026-01-01, to: 2026-01-02, reason: r%d}\n"),
		"wrong.yaml":         head + "bulkheads:\n" + many(2000, "  b%d: {permits: 0, timeout: 5, xyz: 1}\n"),
		"largest.yaml":       head + "bulkheads:\n" + many(2000, "  b%d: {permits: 1, timeout: 5s, queue: {timeout: 1s, length: 3}, retries: {max_attempts: 2, budget: {ratio: 20%%}}}\n"),
		"list.yaml":          head + "bulkheads: {a: {match: {l: [" + many(80_000, "x%d, ") + "y]}}}\n",
		"list.json":          `{"version": 1, "service": "a", "pools": {"p": {"size": 1}}, "bulkheads": {"a": {"match": {"l": [` + many(80_000, `"x%d", `) + `"y"]}}}}`,
		"list.cue":           "bulkheads: a: match: l: [" + many(20_000, `"x%d", `) + "]\n",
		"list-at-top.yaml":   "[" + many(40_000, "x%d, ") + "y]\n",
		"list-nowhere.yaml":  head + "bulkheads: {a: {permits: [" + many(40_000, "x%d, ") + "y]}}\n",
		"lists.yaml":         head + "bulkheads:\n" + many(90, "  b%d: {match: {l: ["+many(999, "x%d, ")+"y]}}\n"),
		"bad-lists.yaml":     head + "bulkheads:\n" + many(90, "  b%d: {match: {l: ["+strings.Repeat("'', ", 999)+"y]}}\n"),
		"match.yaml":         head + "bulkheads:\n" + many(200, "  b%d: {match: {"+many(100, "l%d: [v], ")+"}}\n"),
		"same-key.yaml":      "{" + strings.Repeat("a, ", 100_000) + "b}\n",
		"same-key.json":      "{" + strings.Repeat(`"a": 1, `, 50_000) + `"b": 1}`,
		"same-key.cue":       strings.Repeat("bulkheads: a: permits: 1\n", 5_000),
		"pools.yaml":         "version: 1\nservice: a\npools:\n" + many(100, "  p%d: {size: 10, backend: {name: b, capacity: 5}}\n") + "bulkheads:\n" + many(2000, "  b%d: {pool: p1, permits: 1}\n"),
		"merges.yaml":        head + "a: &a\n" + many(20_000, "  k%d: 1\n") + "bulkheads:\n" + many(20_000, "  b%d: {<<: *a}\n"),
		"sequence.yaml":      strings.Repeat("- ", 1<<20),
		"brackets.yaml":      strings.Repeat("[", 2<<20),
		"brackets.json":      strings.Repeat("[", 4<<20),
		"brackets.cue":       strings.Repeat("(", 4<<20),
		"string.yaml":        head + "bulkheads: {a: {fallback: '" + strings.Repeat("x", 3<<20) + "'}}\n",
		"name.json":          `{"` + strings.Repeat("x", 3<<20) + `": 1}`,
		"anchors.yaml":       many(50_000, "a%d: &a 1\n"),
		"tabs.yaml":          strings.Repeat("\t", 4<<20),
		"colons.yaml":        strings.Repeat("? ", 1<<20),
		"unary.cue":          "a: " + strings.Repeat("-", 100_000) + "1\n",
		"selector.cue":       "a: b" + strings.Repeat(".c", 100_000) + "\n",
		"chain.cue":          strings.Repeat("a: ", 100_000) + "1\n",
		"sum.cue":            "a: 1" + strings.Repeat("+1", 100_000) + "\n",
		"alternatives.cue":   "a: 1" + strings.Repeat("|1", 100_000) + "\n",
		"self.cue":           "a: a\nb: {c: b}\n",
		"doubling.cue":       "_a0: \"xxxxxxxxxx\"\n" + many(60, "_a%[1]d: _a%[1]d + _a%[1]d\n"),
		"multiplication.cue": "a: \"x\" * 1000000000\n",
		"exponent.cue":       "a: 1e1000000000\n",
		"bound.cue":          "a: number | {min?: _, max?: >=min, ...}\n",
	} {
		start := time.Now()
		f, problems := schema.Load(name, []byte(src))
		if took := time.Since(start); took > most {
			t.Errorf("%s took %v", name, took)
		} else if testing.Verbose() {
			t.Logf("%s took %v: %d problems, the first: %.200v", name, took.Round(time.Millisecond), len(problems), problems[:min(1, len(problems))])
		}
		if f == nil && len(problems) == 0 {
			t.Errorf("%s: neither file nor problem", name)
		}
	}
}
