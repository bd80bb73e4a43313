package schema_test

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bhsize/bhsize/schema"
	"github.com/bhsize/bhsize/sizing"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var compareRats = cmp.Comparer(func(a, b *big.Rat) bool {
	return a == b || a != nil && b != nil && a.Cmp(b) == 0
})

func ptr[T any](v T) *T { return &v }

// TestFullFile reads every field of the design's example.
func TestFullFile(t *testing.T) {
	f, problems := load(t, filepath.Join(testdata, "valid", "full.yaml"))
	if f == nil {
		t.Fatal(problems)
	}
	day := func(d int, h, m int) time.Time { return time.Date(2026, 11, d, h, m, 0, 0, time.UTC) }
	want := &schema.File{
		Name: "full.yaml", Version: 1, Service: "checkout", Processes: 1,
		Prometheus: schema.Prometheus{
			URL: "http://localhost:9090", Preset: "istio", Selector: `source_workload="checkout"`, Window: rat(14*86400, 1),
			Series: schema.Series{Counter: "my_requests_total", Histogram: "my_duration", Unit: "ms", Dependency: []string{"label"}, Instance: []string{"pod"}, Errors: `code=~"5.."`, Level: "call", Ends: "complete"},
		},
		Instances: schema.Instances{Min: ptr(4), Max: ptr(12), Surge: ptr(3)},
		Pools: []schema.Pool{{
			Name: "outbound", Size: 100, Reserved: 10, Kind: "connections", Threads: ptr(32), ConnectionsPerCall: ptr(2),
			Overcommit: &schema.Overcommit{Ratio: rat(6, 5), Reason: "search and exports never peak together"},
			Backend:    &schema.Backend{Name: "postgres", Capacity: 500, Reserved: 13, Others: 40},
		}},
		Bulkheads: []schema.Bulkhead{
			{
				Name: "payments", Match: map[string][]string{"destination_service": {"payments.prod.svc.cluster.local"}}, Pool: "outbound",
				Criticality: sizing.Critical, Permits: ptr(19), Covers: "attempt", Headroom: sizing.Headroom{Factor: rat(2, 1)},
				Traffic: &schema.Traffic{PeakRPS: rat(150, 1), P99: rat(1, 20), P99Bounds: &[2]*big.Rat{rat(1, 40), rat(1, 20)}, Mean: rat(21, 1000), Level: "call", Calls: ptr(int64(18200000)), Rejected: ptr(int64(1200)), Measured: day(30, 0, 0), Window: rat(14*86400, 1)},
				Retries: &schema.Retries{Retries: sizing.Retries{MaxAttempts: 2, BudgetRatio: rat(1, 5), BudgetMinPerSecond: rat(10, 1)}, BackoffInitial: rat(1, 20), BackoffMax: rat(1, 5)},
				Timeout: rat(2, 5), Deadline: rat(2, 1), Fallback: "charge later", Queue: &schema.Queue{Timeout: rat(1, 4)},
			},
			{Name: "recommendations", Pool: "outbound", Criticality: sizing.Optional, Permits: ptr(10), Covers: "attempt", Headroom: sizing.Headroom{Factor: rat(2, 1)}, Queue: &schema.Queue{None: true}},
			{
				Name: "search", Pool: "outbound", Criticality: sizing.Standard, Covers: "attempt", Headroom: sizing.Headroom{Factor: rat(133, 100)},
				Retries:     &schema.Retries{Retries: sizing.Retries{MaxAttempts: 3, BudgetRatio: rat(1, 5), FailureRatio: rat(1, 20), Layers: []int{2}}, LayerNames: []string{"mesh"}},
				TimeoutFrom: "enqueue", Queue: &schema.Queue{Timeout: rat(1, 10), Length: ptr(20)},
			},
			{Name: "catalogue", Pool: "outbound", Criticality: sizing.Standard, Covers: "attempt", Headroom: sizing.Headroom{Factor: rat(2, 1)}, Queue: &schema.Queue{Timeout: rat(1, 4)}},
		},
		Measure: schema.Measure{TargetShed: rat(1, 10000), UnhealthyErrors: rat(1, 20), P99Factor: rat(4, 1), Exclude: []schema.Window{{From: day(20, 0, 0), To: day(21, 9, 30), Reason: "load test"}}},
	}
	if diff := cmp.Diff(want, f, compareRats, cmpopts.IgnoreUnexported(schema.File{}), cmpopts.IgnoreFields(schema.File{}, "Source", "Format")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestDefaults holds what a file gets that says nothing, and how queues merge.
func TestDefaults(t *testing.T) {
	f, problems := schema.Load("a.yaml", []byte(head+"defaults: {queue: {timeout: 1s}, retries: {max_attempts: 2, budget: 10%}}\nbulkheads:\n  a: {queue: {length: 3}}\n  b: {queue: none, retries: {max_attempts: 3}}\n"))
	if f == nil {
		t.Fatal(problems)
	}
	a, b := f.Bulkheads[0], f.Bulkheads[1]
	if !a.HeadroomDefaulted || a.Headroom.Factor.Cmp(rat(2, 1)) != 0 {
		t.Errorf("headroom: %v, defaulted %v; want the factor 2", a.Headroom, a.HeadroomDefaulted)
	}
	if a.Queue.Timeout == nil || a.Queue.Length == nil {
		t.Errorf("queue %+v: want the default's timeout beside the own length", a.Queue)
	}
	if !b.Queue.None || b.Queue.Timeout != nil {
		t.Errorf("queue %+v: want none, merged with nothing", b.Queue)
	}
	if b.Retries.BudgetRatio != nil {
		t.Errorf("retries %+v: want the own ones only", b.Retries)
	}
	if f.Measure.TargetShed.Cmp(rat(1, 10000)) != 0 || f.Measure.P99Factor.Cmp(rat(4, 1)) != 0 {
		t.Errorf("measure: %+v", f.Measure)
	}
	if f.Instances.Min != nil || f.Processes != 1 {
		t.Errorf("instances %+v, processes %d", f.Instances, f.Processes)
	}
}

func TestPositions(t *testing.T) {
	f, _ := schema.Load("a.yaml", []byte(head+"bulkheads:\n  支払: {permits: 15, match: {l: [x, y]}}\n"))
	for _, c := range []struct {
		got  schema.Position
		want string
	}{
		{f.Pos(), "a.yaml:1:1"},
		{f.Pos("bulkheads", "支払", "permits"), "a.yaml:5:17"},
		{f.KeyPos("bulkheads", "支払", "permits"), "a.yaml:5:8"},
		{f.KeyPos("bulkheads", "支払"), "a.yaml:5:3"},
		{f.Pos("bulkheads", "支払", "match", "l", "1"), "a.yaml:5:36"},
		{f.Pos("bulkheads", "支払", "timeout"), "a.yaml:5:7"},
		{f.KeyPos("measure"), "a.yaml:1:1"},
	} {
		if c.got.String() != c.want {
			t.Errorf("got %v, want %s", c.got, c.want)
		}
	}
}

func TestSchemaPositionIsGiven(t *testing.T) {
	_, problems := schema.Load("a.yaml", []byte(head+"bulkheads:\n  a: {permits: 0}\n"))
	if len(problems) != 1 || problems[0].SchemaPos.Line == 0 || !strings.Contains(strings.Split(schema.CUE(), "\n")[problems[0].SchemaPos.Line-1], "#Permits") {
		t.Errorf("want the line of #Permits: %+v", problems)
	}
}

func TestTooLarge(t *testing.T) {
	f, problems := schema.Load("a.yaml", []byte(strings.Repeat("# x\n", 2<<20)))
	if f != nil || len(problems) != 1 {
		t.Errorf("a file of 8 MiB: %v", problems)
	}
}

func TestCheck(t *testing.T) {
	if err := schema.Check(filepath.Join(testdata, "valid", "full.yaml")); err != nil {
		t.Errorf("a valid file: %v", err)
	}
	if err := schema.Check(filepath.Join(testdata, "nowhere.yaml")); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
	err := schema.Check(filepath.Join(testdata, "invalid", "unknown-field.yaml"))
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("want three lines: %v", err)
	}
}

// TestConcurrentLoads is for the race detector.
func TestConcurrentLoads(t *testing.T) {
	var group sync.WaitGroup
	for _, path := range files(t, "valid") {
		group.Go(func() { load(t, path) })
	}
	group.Wait()
}

// TestControlCharactersAreEscaped holds that text of the file does not reach a
// terminal as it is.
func TestControlCharactersAreEscaped(t *testing.T) {
	_, problems := schema.Load("a.yaml", []byte(head+"bulkheads:\n  a: {pool: \"\\e[31m\", \"\\e]0\": 1, criticality: \"\\e\"}\n"))
	if len(problems) != 3 {
		t.Errorf("want 3 problems: %v", problems)
	}
	for _, p := range problems {
		if strings.ContainsRune(p.Error()+p.Path, 0x1b) {
			t.Errorf("raw escape: %q", p.Error())
		}
	}
}

// TestSchemaSaysWhatItExpects holds that every scalar definition has its words,
// and every field its sentence.
func TestSchemaSaysWhatItExpects(t *testing.T) {
	lines := strings.Split(schema.CUE(), "\n")
	for i, line := range lines {
		if rules := strings.HasPrefix(line, "#Rules"); rules {
			break
		}
		isField := strings.HasPrefix(line, "\t") && (strings.Contains(line, "?: ") || strings.Contains(line, "!: "))
		if (isField || strings.HasPrefix(line, "#")) && !strings.HasPrefix(strings.TrimSpace(lines[i-1]), "//") {
			t.Errorf("line %d has no comment: %s", i+1, line)
		}
	}
}

func bulkheads(n int) []byte {
	var b strings.Builder
	b.WriteString("version: 1\nservice: checkout\npools: {outbound: {size: 100000}}\nbulkheads:\n")
	for i := range n {
		fmt.Fprintf(&b, "  dep%d:\n    match: {destination_service: [dep%d.prod]}\n    criticality: critical\n    permits: 3\n    traffic: {peak_rps: 150.5, p99: 50ms, p99_bounds: [25ms, 50ms], mean: 21ms, level: call, calls: 1820000, measured: 2026-11-30, window: 14d}\n    retries: {max_attempts: 2, budget: {ratio: 20%%, min_per_second: 10}, backoff: {initial: 50ms, max: 200ms}}\n    timeout: 400ms\n    deadline: 2s\n    queue: {timeout: 100ms, length: 20}\n", i, i)
	}
	return []byte(b.String())
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{20, 500} {
		src := bulkheads(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if f, problems := schema.Load("a.yaml", src); f == nil {
					b.Fatal(problems)
				}
			}
		})
	}
}
