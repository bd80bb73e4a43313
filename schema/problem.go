package schema

import "fmt"

// The rules that a Problem can break.
const (
	RuleSyntax        = "schema/syntax"
	RuleUnknownField  = "schema/unknown-field"
	RuleType          = "schema/type"
	RuleUnit          = "schema/unit"
	RuleRange         = "schema/range"
	RuleMissing       = "schema/missing"
	RuleDuplicateKey  = "schema/duplicate-key"
	RuleContradiction = "schema/contradiction"
	RuleOvercommit    = "budget/overcommit"
)

// Position is a place in a file. Line and Column are 1-based, and columns are
// counted in characters. The zero Position is no place.
type Position struct {
	File         string
	Line, Column int
}

// String returns file:line:column, the form that editors jump to.
func (p Position) String() string {
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Problem is one thing that is wrong with a file.
type Problem struct {
	Rule      string   // one of the Rule constants
	Path      string   // bulkheads.payments.permits; empty for the whole file
	Pos       Position // in the user's file
	SchemaPos Position // in bulkhead.cue; zero where no line of the schema says it
	Message   string   // what is wrong and what is allowed
	Fix       string   // what to do about it
}

// Error returns the problem as one line, position first.
func (p Problem) Error() string {
	return fmt.Sprintf("%s: %s [%s]: %s", p.Pos, p.Message, p.Rule, p.Fix)
}
