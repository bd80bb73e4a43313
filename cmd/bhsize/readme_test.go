package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
)

// transcript is a marked block of the README: the arguments, and what the
// command printed.
var transcript = regexp.MustCompile("(?s)<!-- transcript: (.*?) -->\n```text\n(.*?)```")

// TestReadmeTranscripts runs every command whose output the README shows.
func TestReadmeTranscripts(t *testing.T) {
	t.Chdir("../..")
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	fresh := transcript.ReplaceAllStringFunc(string(readme), func(block string) string {
		found++
		args := transcript.FindStringSubmatch(block)[1]
		return "<!-- transcript: " + args + " -->\n```text\n" + output(t, strings.Fields(args)) + "```"
	})
	if found < 2 {
		t.Fatalf("found %d transcripts in README.md, want at least 2: is the marker still right?", found)
	}
	if fresh == string(readme) {
		return
	}
	if !*update {
		t.Fatal("README.md shows an output that the command no longer gives: go test ./cmd/bhsize -update")
	}
	if err := os.WriteFile("README.md", []byte(fresh), 0o644); err != nil {
		t.Fatal(err)
	}
}

func output(t *testing.T, args []string) string {
	t.Helper()
	t.Setenv("NO_COLOR", "1")
	var stdout, stderr bytes.Buffer
	if code := runWide(args, 128, &stdout, &stderr); code != exitFine {
		t.Fatalf("bhsize %v: exit %d: %s", args, code, stderr.String())
	}
	return stdout.String()
}

// runWide is run on a screen of so many columns.
func runWide(args []string, width int, stdout, stderr *bytes.Buffer) int {
	e := newEnv(stdout, stderr)
	e.width = width
	return e.execute(context.Background(), args)
}
