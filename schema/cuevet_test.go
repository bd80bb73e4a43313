package schema_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bhsize/bhsize/schema"
)

// tool builds a command that tools/go.mod pins. Where that fails the test is
// skipped, unless BHSIZE_REAL=required.
func tool(t *testing.T, pkg string) string {
	t.Helper()
	path, err := buildTool(pkg)
	if err == nil {
		return path
	}
	if os.Getenv("BHSIZE_REAL") == "required" {
		t.Fatalf("%s cannot be built: %v", pkg, err)
	}
	t.Skipf("%s cannot be built: %v", pkg, err)
	return ""
}

var built sync.Map

func buildTool(pkg string) (string, error) {
	type result struct {
		path string
		err  error
	}
	once, _ := built.LoadOrStore(pkg, sync.OnceValue(func() result {
		path := filepath.Join(toolDir, filepath.Base(pkg))
		cmd := exec.Command("go", "build", "-o", path, pkg)
		cmd.Dir = "../tools"
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return result{path, err}
	}))
	r := once.(func() result)()
	return r.path, r.err
}

var toolDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "bhsize-schema-")
	if err != nil {
		panic(err)
	}
	toolDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// onlyLoad are the files that Load refuses and cue vet accepts.
var onlyLoad = map[string]string{
	"backoff-reversed.yaml": "CUE sees durations as text and cannot compare them",
	"bounds-reversed.yaml":  "CUE sees durations as text and cannot compare them",
	"exclude-reversed.yaml": "CUE sees times as text, and theirs have zones",
	"p99-outside.yaml":      "CUE sees durations as text and cannot compare them",
	"window-short.yaml":     "CUE sees durations as text and cannot compare them",
	"window-long.yaml":      "CUE sees durations as text and cannot compare them",
	"window.json":           "CUE sees durations as text and cannot compare them",
	"attribute.cue":         "the scanner recurses in attributes, and a bulkhead file is data",
	"interpolation.cue":     "a bulkhead file is data",
	"duplicate-key.yaml":    "CUE unifies equal values of a duplicate key",
	"two-documents.yaml":    "cue vet judges each document by itself",
	"not-utf8.yaml":         "the YAML decoder of CUE reads broken text on",
	"laughs.cue":            "references are counted before they are evaluated, so that nothing can blow up",
}

// TestSameVerdictAsCueVet runs the real cue vet over every file of testdata. It
// reads CUE files as schemas, not as data, so it is given what cue export makes
// of them.
func TestSameVerdictAsCueVet(t *testing.T) {
	cue := tool(t, "cuelang.org/go/cmd/cue")
	schemaPath := filepath.Join(t.TempDir(), "bulkhead.cue")
	if err := os.WriteFile(schemaPath, []byte(schema.CUE()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(files(t, "valid"), files(t, "invalid")...) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			out, err := vet(t, cue, schemaPath, path)
			_, problems := load(t, path)
			reason, excepted := onlyLoad[filepath.Base(path)]
			switch {
			case excepted && (err != nil || len(problems) == 0):
				t.Errorf("no exception any more (%s)", reason)
			case !excepted && (err == nil) != (len(problems) == 0):
				t.Errorf("cue vet: %v\n%s\nLoad: %v", err, out, problems)
			}
		})
	}
}

// vet returns what cue vet prints, and an error where it refuses.
func vet(t *testing.T, cue, schemaPath, path string) ([]byte, error) {
	t.Helper()
	if filepath.Ext(path) == ".cue" {
		out, err := exec.Command(cue, "export", path).CombinedOutput()
		if err != nil {
			return out, err
		}
		path = filepath.Join(t.TempDir(), "data.json")
		if err := os.WriteFile(path, out, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return exec.Command(cue, "vet", "-d", "#Config", path, schemaPath).CombinedOutput()
}

func TestSchemaIsFormatted(t *testing.T) {
	cue := tool(t, "cuelang.org/go/cmd/cue")
	if out, err := exec.Command(cue, "fmt", "--check", "bulkhead.cue").CombinedOutput(); err != nil {
		t.Errorf("go tool -modfile=tools/go.mod cue fmt schema/bulkhead.cue: %s", out)
	}
}
