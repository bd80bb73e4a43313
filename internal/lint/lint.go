// Package lint finds what is wrong with bulkhead files.
//
// A rule is one file and one line in the registry. It sees all files of the
// run at once, since backends are shared between them.
package lint

import (
	"github.com/bhsize/bhsize/internal/diag"
	"github.com/bhsize/bhsize/schema"
)

// Input is what rules look at.
type Input struct {
	Files []*File
}

// File is one file of the run.
type File struct {
	Name     string
	Source   []byte
	Parsed   *schema.File // nil: the schema refused it
	Problems []schema.Problem
}

// Read parses one file.
func Read(name string, src []byte) *File {
	parsed, problems := schema.Load(name, src)
	return &File{Name: name, Source: src, Parsed: parsed, Problems: problems}
}

// Rule is one check.
type Rule struct {
	ID       string // family/name; family/* where its findings carry their own
	About    string // one line
	Severity diag.Severity
	Check    func(Input) []diag.Finding
}

// Rules is the registry, in the order in which rules are listed.
func Rules() []Rule {
	return []Rule{schemaRule}
}

// Run applies all rules, and sorts what they found.
func Run(in Input) []diag.Finding {
	var all []diag.Finding
	for _, r := range Rules() {
		all = append(all, r.Check(in)...)
	}
	diag.Sort(all)
	return all
}
