package schema_test

import (
	"bytes"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bhsize/bhsize/schema"
	"github.com/google/go-cmp/cmp"
)

func rat(num, denom int64) *big.Rat { return big.NewRat(num, denom) }

// fullTraffic is a measurement with all fields.
func fullTraffic() *schema.Traffic {
	calls, rejected := int64(18200000), int64(1200)
	return &schema.Traffic{
		PeakRPS: rat(301, 2), P99: rat(50, 1000), P99Bounds: &[2]*big.Rat{rat(25, 1000), rat(50, 1000)}, Mean: rat(21, 1000),
		Level: "call", Calls: &calls, Rejected: &rejected, Measured: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), Window: rat(14*86400, 1),
	}
}

const head = "version: 1\nservice: checkout\npools: {outbound: {size: 100}}\n"

func permits(name string, n int) schema.Change { return schema.Change{Bulkhead: name, Permits: &n} }

func both(name string, n int) schema.Change {
	return schema.Change{Bulkhead: name, Permits: &n, Traffic: &schema.Traffic{PeakRPS: rat(10, 1), Mean: rat(5, 1000)}}
}

func TestEdit(t *testing.T) {
	for _, c := range []struct {
		why, name, in string
		change        schema.Change
		want          string
	}{
		{"a value is replaced, its comment stays", "a.yaml", "bulkheads:\n  a:\n    permits: 15   # seven\n", permits("a", 7), "bulkheads:\n  a:\n    permits: 7   # seven\n"},
		{"the same value is not rewritten", "a.yaml", "bulkheads:\n  a: {permits: 0x10}\n", permits("a", 16), "bulkheads:\n  a: {permits: 0x10}\n"},
		{"missing ones come right below the key, before head comments", "a.yaml", "bulkheads:\n    a: # money\n\n        # who\n        criticality: critical\n", both("a", 7), "bulkheads:\n    a: # money\n        permits: 7\n        traffic: {peak_rps: 10, mean: 5ms}\n\n        # who\n        criticality: critical\n"},
		{"traffic comes behind permits", "a.yaml", "bulkheads:\n  a:\n    timeout: 1s\n    permits: 15 # x\n    deadline: 2s", both("a", 7), "bulkheads:\n  a:\n    timeout: 1s\n    permits: 7 # x\n    traffic: {peak_rps: 10, mean: 5ms}\n    deadline: 2s"},
		{"no final newline stays none", "a.yaml", "bulkheads:\n  a:\n    permits: 15", both("a", 7), "bulkheads:\n  a:\n    permits: 7\n    traffic: {peak_rps: 10, mean: 5ms}"},
		{"CRLF", "a.yaml", "bulkheads:\r\n  a:\r\n    timeout: 1s\r\n", both("a", 7), "bulkheads:\r\n  a:\r\n    permits: 7\r\n    traffic: {peak_rps: 10, mean: 5ms}\r\n    timeout: 1s\r\n"},
		{"flow", "a.yaml", "bulkheads: {a: {timeout: 1s}}\n", both("a", 7), "bulkheads: {a: {permits: 7, traffic: {peak_rps: 10, mean: 5ms}, timeout: 1s}}\n"},
		{"flow with spaces", "a.yaml", "bulkheads: {a: { timeout: 1s }}\n", permits("a", 7), "bulkheads: {a: { permits: 7, timeout: 1s }}\n"},
		{"flow behind permits", "a.yaml", "bulkheads: {a: {permits: 15, timeout: 1s}}\n", both("a", 7), "bulkheads: {a: {permits: 7, traffic: {peak_rps: 10, mean: 5ms}, timeout: 1s}}\n"},
		{"empty flow", "a.yaml", "bulkheads:\n  a: {}  # x\n", permits("a", 7), "bulkheads:\n  a: {permits: 7}  # x\n"},
		{"no value", "a.yaml", "bulkheads:\n  a:   # later\n  b:\n", permits("a", 7), "bulkheads:\n  a: {permits: 7}   # later\n  b:\n"},
		{"no value at the end", "a.yaml", "bulkheads:\n  a:", permits("a", 7), "bulkheads:\n  a: {permits: 7}"},
		{"null", "a.yaml", "bulkheads:\n  'it''s': null # x\n", permits("it's", 7), "bulkheads:\n  'it''s': {permits: 7} # x\n"},
		{"a quoted key without a value", "a.yaml", "bulkheads:\n  \"a b\" :\n", permits("a b", 7), "bulkheads:\n  \"a b\" : {permits: 7}\n"},
		{"block traffic, field by field", "a.yaml", "bulkheads:\n  a:\n    traffic:\n      mean: \"21ms\" # m\n      # p\n      p99: 50ms\n      peak_rps: 150\n    permits: 7\n", both("a", 7), "bulkheads:\n  a:\n    traffic:\n      mean: \"5ms\" # m\n      # p\n      peak_rps: 10\n    permits: 7\n"},
		{"flow traffic, field by field", "a.yaml", "bulkheads: {a: {permits: 7, traffic: {peak_rps: 150, p99: 50ms, window: 14d}}}\n", both("a", 7), "bulkheads: {a: {permits: 7, traffic: {peak_rps: 10, mean: 5ms}}}\n"},
		{"an own key beside a merge key", "a.yaml", "bulkheads:\n  b: &b {timeout: 1s}\n  a:\n    <<: *b\n", permits("a", 7), "bulkheads:\n  b: &b {timeout: 1s}\n  a:\n    permits: 7\n    <<: *b\n"},
		{"wide characters, NEL and a byte order mark", "a.yaml", "bulkheads: # 版本 x\u0085\n  支払: # é\n    permits: 15 # y \u2028\n", permits("支払", 7), "bulkheads: # 版本 x\u0085\n  支払: # é\n    permits: 7 # y \u2028\n"},
		{"a measurement between other fields goes", "a.yaml", "bulkheads: {a: {permits: 7, traffic: {p99: 50ms, peak_rps: 10, window: 14d, mean: 5ms, level: call}}}\n", both("a", 7), "bulkheads: {a: {permits: 7, traffic: {peak_rps: 10, mean: 5ms}}}\n"},
		{"JSON", "a.json", `{"bulkheads": {"a": {"timeout": "1s"}}}`, both("a", 7), `{"bulkheads": {"a": {"permits": 7, "traffic": {"peak_rps": 10, "mean": "5ms"}, "timeout": "1s"}}}`},
		{"JSON null", "a.json", `{"bulkheads": {"a": null}}`, permits("a", 7), `{"bulkheads": {"a": {"permits": 7}}}`},
		{"pretty JSON", "a.json", "{\n  \"bulkheads\": {\n    \"a\": {\n      \"timeout\": \"1s\"\n    }\n  }\n}\n", both("a", 7), "{\n  \"bulkheads\": {\n    \"a\": {\n      \"permits\": 7,\n      \"traffic\": {\"peak_rps\": 10, \"mean\": \"5ms\"},\n      \"timeout\": \"1s\"\n    }\n  }\n}\n"},
		{"pretty JSON traffic", "a.json", "{\n  \"bulkheads\": {\n    \"a\": {\n      \"permits\": 7,\n      \"traffic\": {\n        \"peak_rps\": 150,\n        \"p99\": \"50ms\"\n      }\n    }\n  }\n}\n", both("a", 7), "{\n  \"bulkheads\": {\n    \"a\": {\n      \"permits\": 7,\n      \"traffic\": {\n        \"peak_rps\": 10,\n        \"mean\": \"5ms\"\n      }\n    }\n  }\n}\n"},
		{"CUE", "a.cue", "bulkheads: {\n\ta: {\n\t\ttimeout: \"1s\" // t\n\t}\n}\n", both("a", 7), "bulkheads: {\n\ta: {\n\t\tpermits: 7,\n\t\ttraffic: {peak_rps: 10, mean: \"5ms\"},\n\t\ttimeout: \"1s\" // t\n\t}\n}\n"},
		{"CUE, a literal", "a.cue", "bulkheads: a: permits: 15 // p\n", permits("a", 7), "bulkheads: a: permits: 7 // p\n"},
	} {
		t.Run(c.why, func(t *testing.T) {
			src, want := headFor(c.name, c.in), headFor(c.name, c.want)
			f, problems := schema.Load(c.name, []byte(src))
			if f == nil {
				t.Fatal(problems)
			}
			got, err := f.Edit([]schema.Change{c.change})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// headFor puts what every file needs before the bulkheads.
func headFor(name, body string) string {
	switch filepath.Ext(name) {
	case ".json":
		return strings.Replace(body, "{", `{"version": 1, "service": "checkout", "pools": {"outbound": {"size": 100}}, `, 1)
	case ".cue":
		return "version: 1\nservice: \"checkout\"\npools: outbound: size: 100\n" + body
	}
	return head + body
}

func TestEditRefuses(t *testing.T) {
	for _, c := range []struct {
		why, name, in string
		at            string
	}{
		{"an alias", "a.yaml", "bulkheads:\n  b: {permits: &p 3}\n  a: {permits: *p}\n", "6:16"},
		{"an anchor that is aliased", "a.yaml", "bulkheads:\n  a: {permits: &p 3}\n  b: {permits: *p}\n", "5:19"},
		{"under an anchor that is aliased", "a.yaml", "bulkheads:\n  a: &a\n    permits: 3\n  b: *a\n", "6:14"},
		{"nothing to replace, but under an anchor", "a.yaml", "bulkheads:\n  a: &a\n    timeout: 3s\n  b: *a\n", "6:5"},
		{"a merge key", "a.yaml", "bulkheads:\n  b: &b {permits: 3}\n  a:\n    <<: *b\n", "5:19"},
		{"a block scalar", "a.yaml", "bulkheads:\n  a:\n    permits: !!int |-\n      3\n", "6:20"},
		{"a CUE expression", "a.cue", "bulkheads: a: permits: 1 + 2\n", "4:24"},
		{"a CUE reference", "a.cue", "_p: 3\nbulkheads: a: {permits: _p}\n", "5:25"},
		{"CUE without braces", "a.cue", "bulkheads: a: timeout: \"1s\"\n", "4:15"},
	} {
		t.Run(c.why, func(t *testing.T) {
			f, problems := schema.Load(c.name, []byte(headFor(c.name, c.in)))
			if f == nil {
				t.Fatal(problems)
			}
			got, err := f.Edit([]schema.Change{permits("a", 7)})
			if err == nil || got != nil {
				t.Fatalf("edited: %s", got)
			}
			if !strings.HasPrefix(err.Error(), c.name+":"+c.at+": ") {
				t.Errorf("want position %s: %v", c.at, err)
			}
		})
	}
}

func TestEditUnknownBulkhead(t *testing.T) {
	f, _ := schema.Load("a.yaml", []byte(head+"bulkheads:\n  a: {}\n"))
	if _, err := f.Edit([]schema.Change{permits("b", 7)}); err == nil || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("want an error that names the bulkhead: %v", err)
	}
}

// TestEditEveryValidFile sets everything in every bulkhead of every file, and
// holds that editing again changes nothing, and that no line is lost that does
// not hold permits or traffic.
func TestEditEveryValidFile(t *testing.T) {
	for _, path := range files(t, "valid") {
		f, _ := load(t, path)
		edited := 0
		for _, b := range f.Bulkheads {
			n := 2
			change := []schema.Change{{Bulkhead: b.Name, Permits: &n, Traffic: fullTraffic()}}
			if checkEdit(t, f, change) {
				edited++
			}
		}
		if edited == 0 && !strings.HasSuffix(path, "template.cue") {
			t.Errorf("%s: nothing could be edited", path)
		}
	}
}

// checkEdit holds the properties of one edit, and says whether it was made.
func checkEdit(t testing.TB, f *schema.File, changes []schema.Change) bool {
	t.Helper()
	once, err := f.Edit(changes)
	if err != nil {
		if once != nil {
			t.Errorf("%s: bytes beside an error", f.Name)
		}
		return false
	}
	again, _ := schema.Load(f.Name, once)
	twice, err := again.Edit(changes)
	if err != nil {
		t.Errorf("%s: second edit: %v\n%s", f.Name, err, once)
	}
	if !bytes.Equal(once, twice) {
		t.Errorf("%s: the second edit changes something:\n%s", f.Name, cmp.Diff(string(once), string(twice)))
	}
	if f.Format == schema.FormatYAML {
		keepsComments(t, f.Source, once)
	}
	return true
}

// keepsComments holds that every comment is still there.
func keepsComments(t testing.TB, before, after []byte) {
	t.Helper()
	for line := range bytes.Lines(before) {
		_, comment, ok := bytes.Cut(line, []byte(" #"))
		if ok && !bytes.Contains(line, []byte("p99:")) && !bytes.Contains(after, bytes.TrimSpace(comment)) {
			t.Errorf("comment lost: %q\n%s", comment, after)
		}
	}
}
