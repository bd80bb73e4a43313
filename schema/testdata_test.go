package schema_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bhsize/bhsize/schema"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the .want files")

const testdata = "../testdata/schema"

// files returns the files of a folder of testdata, the .want files left out.
func files(t testing.TB, folder string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(testdata, folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range all {
		if filepath.Ext(name) != ".want" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.Fatalf("no files in %s", folder)
	}
	return names
}

func load(t testing.TB, path string) (*schema.File, []schema.Problem) {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return schema.Load(filepath.Base(path), src)
}

func TestValidFilesHaveNoProblems(t *testing.T) {
	for _, path := range files(t, "valid") {
		f, problems := load(t, path)
		for _, p := range problems {
			t.Errorf("%s: unexpected problem: %v", path, p)
		}
		if f == nil {
			t.Errorf("%s: no File", path)
		}
	}
}

// TestInvalidFiles compares all problems of every invalid file with the .want
// file beside it: go test ./schema -update rewrites them.
func TestInvalidFiles(t *testing.T) {
	for _, path := range files(t, "invalid") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, problems := load(t, path)
			if len(problems) == 0 {
				t.Fatal("no problem found")
			}
			got := describe(problems)
			if *update {
				if err := os.WriteFile(path+".want", []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path + ".want")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("problems differ (-want +got), go test ./schema -update accepts them:\n%s", diff)
			}
			if budgetOnly(problems) != (f != nil) {
				t.Errorf("File is %v: it is there exactly where only the budget is broken", f != nil)
			}
		})
	}
}

func budgetOnly(problems []schema.Problem) bool {
	for _, p := range problems {
		if p.Rule != schema.RuleOvercommit {
			return false
		}
	}
	return true
}

// describe leaves out the schema's lines, which move with every edit of it.
func describe(problems []schema.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%d:%d %s\n  path: %s\n  %s\n  fix: %s\n", p.Pos.Line, p.Pos.Column, p.Rule, p.Path, p.Message, p.Fix)
	}
	return b.String()
}

// TestProblemsAreWellFormed holds what every problem of every file must have.
func TestProblemsAreWellFormed(t *testing.T) {
	for _, path := range files(t, "invalid") {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, problems := load(t, path)
		for _, p := range problems {
			wellFormed(t, src, p)
			for _, raw := range []string{"disjunction", "conflicting values {", "#Permits", "#Duration", "_|_", "out of bound"} {
				if strings.Contains(p.Message+p.Fix, raw) {
					t.Errorf("%s: message shows the inside of CUE: %v", path, p)
				}
			}
		}
	}
}

func wellFormed(t testing.TB, src []byte, p schema.Problem) {
	t.Helper()
	lines := strings.Split(string(src), "\n")
	switch {
	case p.Message == "" || p.Fix == "" || p.Rule == "":
		t.Errorf("problem without message, fix or rule: %#v", p)
	case p.Pos.Line < 1 || p.Pos.Line > len(lines):
		t.Errorf("line outside of the file: %v", p)
	case p.Pos.Column < 1 || p.Pos.Column > len([]rune(lines[p.Pos.Line-1]))+1:
		t.Errorf("column outside of the line: %v", p)
	}
}
