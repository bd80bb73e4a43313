package main

import (
	"github.com/spf13/cobra"

	"github.com/bhsize/bhsize/internal/diag"
	"github.com/bhsize/bhsize/internal/lint"
	"github.com/bhsize/bhsize/schema"
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
	in := lint.Input{}
	for _, name := range names {
		src, err := schema.ReadFile(name)
		if err != nil {
			return err
		}
		in.Files = append(in.Files, lint.Read(name, src))
	}
	all := lint.Run(in)
	if err := diag.Text(e.out, all, sourcesOf(in.Files)); err != nil {
		return err
	}
	if worst, any := diag.Worst(all); any && worst >= diag.Error {
		return &exit{code: exitFindings}
	}
	return nil
}
