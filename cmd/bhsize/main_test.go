package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the expected output of scripts and of the README anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"bhsize": func() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the command as a shell would: testdata/script/*.txtar, one
// topic each, with exact output. `go test ./cmd/bhsize -update` writes it anew.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"envsubst": envsubst},
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXAMPLES", examples)
			e.Setenv("NO_COLOR", "1")
			return nil
		},
	})
}

// envsubst replaces $EXAMPLES in files: paths of this machine belong into no script.
func envsubst(ts *testscript.TestScript, neg bool, files []string) {
	if neg || len(files) == 0 {
		ts.Fatalf("usage: envsubst FILE...")
	}
	for _, name := range files {
		text := strings.ReplaceAll(ts.ReadFile(name), "$EXAMPLES", ts.Getenv("EXAMPLES"))
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}
