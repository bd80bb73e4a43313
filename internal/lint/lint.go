// Package lint turns what is wrong with bulkhead files into findings.
//
// The registry of rules lives here: a rule is one file and one line in it. So
// far the findings are those of the schema and of the budget, which package
// schema reaches with CUE.
package lint

import (
	"github.com/bhsize/bhsize/internal/diag"
	"github.com/bhsize/bhsize/schema"
)

// File is a linted file: its text and what was found in it.
type File struct {
	Name     string
	Source   []byte
	Findings []diag.Finding
}

// Check lints the content of one file.
func Check(name string, src []byte) File {
	_, problems := schema.Load(name, src)
	return File{Name: name, Source: src, Findings: Findings(problems)}
}

// Findings shows what the schema refused as findings, sorted. All of it is an error.
func Findings(problems []schema.Problem) []diag.Finding {
	var all []diag.Finding
	for _, p := range problems {
		all = append(all, diag.Finding{
			Rule: p.Rule, Severity: diag.Error, Position: position(p.Pos), Schema: position(p.SchemaPos),
			Message: p.Message, Fix: p.Fix,
		})
	}
	diag.Sort(all)
	return all
}

func position(p schema.Position) diag.Position {
	return diag.Position{File: p.File, Line: p.Line, Column: p.Column}
}
