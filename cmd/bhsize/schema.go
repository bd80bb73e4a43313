package main

import (
	"github.com/spf13/cobra"

	"github.com/bhsize/bhsize/schema"
)

func newSchema(e *env) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "schema", Short: "print the schema of bulkhead files", Args: cobra.NoArgs,
		Long: `schema prints the CUE that bulkhead files are checked against. It stands alone:

  bhsize schema > bulkhead.cue
  cue vet -d '#Config' bulkhead.yaml bulkhead.cue

With --json it prints a JSON Schema for editors.`,
		RunE: func(*cobra.Command, []string) error {
			text := []byte(schema.CUE())
			if asJSON {
				var err error
				if text, err = schema.JSONSchema(); err != nil {
					return err
				}
			}
			_, err := e.out.Write(text)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON Schema instead of CUE")
	return cmd
}
