package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/bhsize/bhsize/internal/diag"
	"github.com/bhsize/bhsize/internal/lint"
)

func newLint(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "lint [PATH...]", Short: "check bulkhead files, and fail when permits do not fit their pool",
		Long: `lint checks bulkhead files (default: bulkhead.yaml) against the schema, the
budget of every pool included. It needs no server. Exit code 1 means findings,
2 that a file could not be read.`,
		RunE: func(_ *cobra.Command, args []string) error { return e.lint(args) },
	}
}

func (e *env) lint(patterns []string) error {
	names, err := expand(patterns)
	if err != nil {
		return err
	}
	sources := map[string][]byte{}
	var all []diag.Finding
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		checked := lint.Check(name, src)
		sources[name] = checked.Source
		all = append(all, checked.Findings...)
	}
	if err := diag.Text(e.out, all, func(file string) []byte { return sources[file] }); err != nil {
		return err
	}
	if worst, any := diag.Worst(all); any && worst >= diag.Error {
		return &exit{code: exitFindings}
	}
	return nil
}
