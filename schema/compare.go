package schema

import (
	"fmt"
	"math/big"
	"time"

	"github.com/bhsize/bhsize/sizing"
)

// compare refuses durations and times that contradict each other, or that are
// out of range. CUE sees them as text, so this is the part of the verdict that
// `cue vet` does not reach.
func compare(s *source, format Format, root *node) []Problem {
	c := &comparer{src: s, style: styleOf(format)}
	c.window(root.get("prometheus", "window"))
	for _, f := range root.get("bulkheads").all() {
		at := []string{"bulkheads", f.key}
		c.percentile(f.value.get("traffic"), append(at, "traffic"))
		c.backoff(f.value, at)
	}
	c.backoff(root.get("defaults"), []string{"defaults"})
	if exclude := root.get("measure", "exclude"); exclude != nil {
		for i, item := range exclude.items {
			c.times(item, []string{"measure", "exclude", fmt.Sprint(i)})
		}
	}
	return c.problems
}

// The shortest window is one slot of measurement, and the longest what
// Prometheus is asked for at most; in seconds.
const (
	minWindow = 15 * 60
	maxWindow = 400 * 24 * 60 * 60
)

func (c *comparer) window(n *node) {
	d := asDuration(n)
	if d == nil || d.Cmp(big.NewRat(minWindow, 1)) >= 0 && d.Cmp(big.NewRat(maxWindow, 1)) <= 0 {
		return
	}
	c.add(Problem{Rule: RuleRange, Path: "prometheus.window", Pos: c.src.position(n.at),
		Message: fmt.Sprintf("window is %s; expected %s", n.describe(), c.style.hint("15m to 400d")), Fix: c.style.hint("write how far to look back, such as 14d")})
}

// percentile refuses bounds that are the wrong way round, and a p99 that does
// not lie between them. Measured ones are all rounded up alike, which keeps
// their order.
func (c *comparer) percentile(traffic *node, path []string) {
	bounds := traffic.get("p99_bounds")
	if bounds == nil || bounds.kind != listKind || len(bounds.items) != 2 {
		return
	}
	low, high, p99 := bounds.items[0], bounds.items[1], traffic.get("p99")
	if c.durations(low, high, append(path, "p99_bounds"), "the lower bound", "the upper bound") {
		return
	}
	if isAbove(asDuration(low), asDuration(p99)) {
		c.report(p99, append(path, "p99"), fmt.Sprintf("p99 %s is below the lower of p99_bounds %s", p99.text, low.text))
	}
	if isAbove(asDuration(p99), asDuration(high)) {
		c.report(p99, append(path, "p99"), fmt.Sprintf("p99 %s is above the upper of p99_bounds %s", p99.text, high.text))
	}
}

func isAbove(a, b *big.Rat) bool { return a != nil && b != nil && a.Cmp(b) > 0 }

// all returns the fields of a mapping, none for anything else.
func (n *node) all() []field {
	if n == nil {
		return nil
	}
	return n.fields
}

type comparer struct {
	src      *source
	style    style
	problems []Problem
}

func (c *comparer) backoff(n *node, path []string) {
	b := n.get("retries", "backoff")
	c.durations(b.get("initial"), b.get("max"), append(path, "retries", "backoff"), "initial", "max")
}

// durations reports, and says whether, the lower one is above the higher one.
func (c *comparer) durations(low, high *node, path []string, lowName, highName string) bool {
	reversed := isAbove(asDuration(low), asDuration(high))
	if reversed {
		c.report(high, path, fmt.Sprintf("%s %s is above %s %s", lowName, low.text, highName, high.text))
	}
	return reversed
}

func (c *comparer) times(n *node, path []string) {
	from, to := asTime(n.get("from")), asTime(n.get("to"))
	if from.IsZero() || to.IsZero() || from.Before(to) {
		return
	}
	c.report(n.get("to"), path, fmt.Sprintf("to %s is not after from %s", n.get("to").text, n.get("from").text))
}

// report takes a contradiction.
func (c *comparer) report(n *node, path []string, message string) {
	c.add(Problem{Rule: RuleContradiction, Path: joinPath(path), Pos: c.src.position(n.at), Message: message, Fix: "swap or correct them"})
}

func (c *comparer) add(p Problem) {
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, p)
	}
}

// asDuration returns seconds, nil for what is no duration.
func asDuration(n *node) *big.Rat {
	if n == nil || n.kind != stringKind {
		return nil
	}
	d, err := sizing.ParseDuration(n.text)
	if err != nil {
		return nil
	}
	return d
}

// asTime returns a time, the zero time for what is none. A day starts in UTC.
func asTime(n *node) time.Time {
	if n == nil || n.kind != stringKind {
		return time.Time{}
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, n.text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
