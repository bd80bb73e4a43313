package schema_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bhsize/bhsize/schema"
)

// TestJSONSchema asks a real validator, and knows the .json files that only
// the rules between fields refuse.
func TestJSONSchema(t *testing.T) {
	jv := tool(t, "github.com/santhosh-tekuri/jsonschema/cmd/jv")
	cue := tool(t, "cuelang.org/go/cmd/cue")
	text, err := schema.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	schemaPath := filepath.Join(dir, "bulkhead.json")
	if err := os.WriteFile(schemaPath, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range files(t, "valid") {
		if out, err := exec.Command(jv, schemaPath, asJSON(t, cue, path)).CombinedOutput(); err != nil {
			t.Errorf("%s is valid: %s", path, out)
		}
	}
	for _, name := range []string{"unknown.json", "unknown-field.yaml", "unknown-nested.yaml", "kinds.yaml", "permits-zero.yaml", "permits-quoted.yaml", "permits-share.yaml", "duration-bare.yaml", "enums.yaml", "missing.yaml", "queue-word.yaml", "ratios.yaml", "headroom.yaml", "match.yaml", "traffic.yaml", "version.yaml"} {
		path := filepath.Join(testdata, "invalid", name)
		if err := exec.Command(jv, schemaPath, asJSON(t, cue, path)).Run(); err == nil {
			t.Errorf("%s passes the JSON Schema", path)
		}
	}
}

func asJSON(t *testing.T, cue, path string) string {
	t.Helper()
	out, err := exec.Command(cue, "export", "--out", "json", path).Output()
	if err != nil {
		t.Fatalf("cue export %s: %v", path, err)
	}
	to := filepath.Join(t.TempDir(), "data.json")
	if err := os.WriteFile(to, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}
