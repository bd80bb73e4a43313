package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version of bhsize and of the Go it was built with", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(e.out, versionText())
			return err
		},
	}
}

func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "bhsize (built without module information)"
	}
	version := info.Main.Version
	if version == "" {
		version = "(devel)"
	}
	return fmt.Sprintf("bhsize %s, %s", version, info.GoVersion)
}
