package schema_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	cueyaml "cuelang.org/go/encoding/yaml"

	"github.com/bhsize/bhsize/schema"
)

// tokens that a mutation puts anywhere.
var tokens = []string{"\n", " ", "  ", ":", ": ", "-", "- ", "{", "}", "[", "]", ",", "#", " # x", "&a ", "*a", "<<: *a", "\"", "'", "|", ">", "~", "null", "0", "1", "permits: 3", "traffic: {peak_rps: 1}", "\r\n", "\ufeff", "\u0085", "\u2028", "é", "!!int ", "? ", "%", "\t", "...", "---\n"}

// mutate changes a file in a few random places.
func mutate(r *rand.Rand, src []byte) []byte {
	out := bytes.Clone(src)
	for range 1 + r.IntN(3) {
		i := r.IntN(len(out) + 1)
		j := min(len(out), i+r.IntN(6))
		switch r.IntN(3) {
		case 0:
			out = append(out[:i:i], out[j:]...)
		case 1:
			out = append(append(out[:i:i], tokens[r.IntN(len(tokens))]...), out[i:]...)
		case 2:
			out = append(append(out[:i:i], out[r.IntN(i+1):j]...), out[i:]...)
		}
	}
	return out
}

// TestMutations holds the properties of FuzzLoad and FuzzEdit, and the verdict
// of CUE's own YAML reader, over random changes of the files of testdata. The
// seed is fixed, so that a failure stays.
func TestMutations(t *testing.T) {
	rounds := 12
	if text := os.Getenv("BHSIZE_ROUNDS"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	config := cuecontext.New().CompileString(schema.CUE()).LookupPath(cue.ParsePath("#Config"))
	n := 2
	for _, path := range append(files(t, "valid"), files(t, "invalid")...) {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range rounds {
			mutated := mutate(r, src)
			f, problems := schema.Load("m"+filepath.Ext(path), mutated)
			for _, p := range problems {
				wellFormed(t, mutated, p)
			}
			if filepath.Ext(path) == ".yaml" && onlyLoad[filepath.Base(path)] == "" {
				sameAsCUE(t, config, mutated, problems)
			}
			if f == nil {
				continue
			}
			for i, b := range f.Bulkheads {
				if i < 3 {
					checkEdit(t, f, []schema.Change{{Bulkhead: b.Name, Permits: &n, Traffic: fullTraffic()}})
					checkEdit(t, f, []schema.Change{both(b.Name, 5)})
				}
			}
			if t.Failed() {
				t.Fatalf("%s, mutated to:\n%s", path, mutated)
			}
		}
	}
}

// sameAsCUE compares with CUE's own YAML reader, over what both read.
func sameAsCUE(t *testing.T, config cue.Value, src []byte, problems []schema.Problem) {
	t.Helper()
	for _, p := range problems {
		if p.Rule == schema.RuleSyntax || p.Rule == schema.RuleDuplicateKey || p.SchemaPos.Line == 0 { // not CUE's
			return
		}
	}
	defer func() { _ = recover() }() // CUE's reader panics on line ends that YAML knows and it does not
	file, err := cueyaml.Extract("m.yaml", src)
	if err == nil {
		err = config.Unify(cuecontext.New().BuildFile(file)).Validate(cue.Concrete(true))
	}
	if (err == nil) != (len(problems) == 0) {
		t.Errorf("CUE: %v\nLoad: %v", err, problems)
	}
}
