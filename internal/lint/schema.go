package lint

import (
	"github.com/bhsize/bhsize/internal/diag"
	"github.com/bhsize/bhsize/schema"
)

// schemaRule reports what CUE refused, the budget sum included. The findings
// carry the ids that package schema gives them: schema/..., budget/overcommit.
var schemaRule = Rule{
	ID: "schema/*", About: "what the schema refuses, the budget of every pool included", Severity: diag.Error,
	Check: func(in Input) []diag.Finding {
		var all []diag.Finding
		for _, f := range in.Files {
			all = append(all, Findings(f.Problems)...)
		}
		return all
	},
}

// Findings shows what the schema refused, sorted. All of it is an error.
func Findings(problems []schema.Problem) []diag.Finding {
	var all []diag.Finding
	for _, p := range problems {
		f := diag.Finding{Rule: p.Rule, Severity: diag.Error, Position: position(p.Pos), Message: p.Message, Fix: p.Fix}
		if p.SchemaPos.Line > 0 {
			f.Related = []diag.Related{{Position: position(p.SchemaPos), Text: "the schema (`bhsize schema`) says so here"}}
		}
		all = append(all, f)
	}
	diag.Sort(all)
	return all
}

func position(p schema.Position) diag.Position {
	return diag.Position{File: p.File, Line: p.Line, Column: p.Column}
}
