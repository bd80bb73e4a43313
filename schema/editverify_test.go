package schema

import (
	"strings"
	"testing"
)

// TestVerifyNamesTheField holds that an edit which did something else is
// refused, with the name and the place of what differs.
func TestVerifyNamesTheField(t *testing.T) {
	const src = "version: 1\nservice: shop\npools: {outbound: {size: 100}}\nbulkheads:\n  a: {permits: 3, timeout: 1s, match: {l: [x]}}\n  b: {traffic: {peak_rps: 10, measured: 2026-11-30}}\n"
	f, problems := Load("a.yaml", []byte(src))
	if f == nil {
		t.Fatal(problems)
	}
	seven := 7
	for _, c := range []struct{ old, new, want string }{
		{"permits: 3", "permits: 8", "a.yaml:5:16: the edit would make bulkheads.a.permits 8 instead of 7;"},
		{"permits: 3, timeout: 1s", "permits: 7, timeout: 2s", "a.yaml:5:28: the edit would make bulkheads.a.timeout \"2\" instead of \"1\";"},
		{"permits: 3, timeout: 1s", "permits: 7", "a.yaml:5:28: the edit would make bulkheads.a.timeout nothing instead of \"1\";"},
		{"permits: 3, timeout: 1s, match: {l: [x]}", "permits: 7, timeout: 1s, match: {l: [x], m: [y]}", "a.yaml:5:39: the edit would make bulkheads.a.match {"},
		{"  b:", "  c:", "bulkheads.b.name \"c\" instead of \"b\";"},
		{"peak_rps: 10", "peak_rps: 11", "a.yaml:6:27: the edit would make bulkheads.b.traffic.peak_rps \"11\" instead of \"10\";"},
		{"2026-11-30", "2026-12-01", "a.yaml:6:41: the edit would make bulkheads.b.traffic.measured \"2026-12-01T00:00:00Z\" instead of \"2026-11-30T00:00:00Z\";"},
		{"size: 100", "size: 90", "a.yaml:3:26: the edit would make pools.outbound.size 90 instead of 100;"},
		{"size: 100", "size: many", "would be invalid in pools.outbound.size: a.yaml:3:26: size"},
	} {
		out := strings.Replace(strings.Replace(src, c.old, c.new, 1), "permits: 3", "permits: 7", 1)
		err := f.verify([]byte(out), []Change{{Bulkhead: "a", Permits: &seven}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: %v, want %s", c.new, c.old, err, c.want)
		}
	}
}
