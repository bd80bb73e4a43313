// Package diag holds what lint finds, and how a finding is shown.
package diag

import (
	"cmp"
	"slices"
)

// Severity orders findings.
type Severity int

// The severities, mildest first.
const (
	Info Severity = iota
	Warning
	Error
)

func (s Severity) String() string {
	return [...]string{"info", "warning", "error"}[s]
}

// Position is a place in a file: 1-based, the column counts characters. A zero
// Line is the file as a whole.
type Position struct {
	File         string
	Line, Column int
}

// Finding is one result of lint. Rule, severity, position, what is wrong, and
// what to do about it.
type Finding struct {
	Rule     string
	Severity Severity
	Position Position
	Message  string
	Fix      string
	// Related are other places that contribute: the constraint that refused,
	// the first of two definitions.
	Related []Related
}

// Related is another place that has to do with a finding, and what it is.
type Related struct {
	Position Position
	Text     string
}

// Sort orders findings by file, position, rule and message.
func Sort(all []Finding) {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Position.File, b.Position.File),
			cmp.Compare(a.Position.Line, b.Position.Line),
			cmp.Compare(a.Position.Column, b.Position.Column),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Message, b.Message),
		)
	})
}

// Worst returns the highest severity; ok is false without findings.
func Worst(all []Finding) (worst Severity, ok bool) {
	for _, f := range all {
		worst = max(worst, f.Severity)
	}
	return worst, len(all) > 0
}
