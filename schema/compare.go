package schema

import (
	"fmt"
	"math/big"
	"time"

	"github.com/bhsize/bhsize/sizing"
)

// compare refuses pairs of durations and of times that are the wrong way
// round. CUE sees them as text, so this is the part of the verdict that `cue
// vet` does not reach.
func compare(s *source, root *node) []Problem {
	c := &comparer{src: s}
	for _, f := range root.get("bulkheads").all() {
		at := []string{"bulkheads", f.key}
		if bounds := f.value.get("traffic", "p99_bounds"); bounds != nil && bounds.kind == listKind && len(bounds.items) == 2 {
			c.durations(bounds.items[0], bounds.items[1], append(at, "traffic", "p99_bounds"), "the lower bound", "the upper bound")
		}
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

// all returns the fields of a mapping, none for anything else.
func (n *node) all() []field {
	if n == nil {
		return nil
	}
	return n.fields
}

type comparer struct {
	src      *source
	problems []Problem
}

func (c *comparer) backoff(n *node, path []string) {
	b := n.get("retries", "backoff")
	c.durations(b.get("initial"), b.get("max"), append(path, "retries", "backoff"), "initial", "max")
}

func (c *comparer) durations(low, high *node, path []string, lowName, highName string) {
	a, b := asDuration(low), asDuration(high)
	if a == nil || b == nil || a.Cmp(b) <= 0 {
		return
	}
	c.report(high, path, fmt.Sprintf("%s %s is above %s %s", lowName, low.text, highName, high.text))
}

func (c *comparer) times(n *node, path []string) {
	from, to := asTime(n.get("from")), asTime(n.get("to"))
	if from.IsZero() || to.IsZero() || from.Before(to) {
		return
	}
	c.report(n.get("to"), path, fmt.Sprintf("to %s is not after from %s", n.get("to").text, n.get("from").text))
}

func (c *comparer) report(n *node, path []string, message string) {
	c.problems = append(c.problems, Problem{Rule: RuleContradiction, Path: joinPath(path), Pos: c.src.position(n.at), Message: message, Fix: "swap or correct them"})
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
