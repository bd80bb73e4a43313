package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/bhsize/bhsize/internal/synth"
	"github.com/bhsize/bhsize/promquery"
	"github.com/bhsize/bhsize/promquery/local"
)

const (
	counter   = "istio_requests_total"
	histogram = "istio_request_duration_milliseconds"
)

func truth(t *testing.T) *synth.Truth {
	t.Helper()
	text, err := os.ReadFile("../truth.json")
	if err != nil {
		t.Fatal(err)
	}
	var out synth.Truth
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

func history(t *testing.T) *local.DB {
	t.Helper()
	db, err := local.Open(t.Context(), "../history")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// days asks for the whole history in chunks of a day, by dependency.
func days(t *testing.T, db *local.DB, expr string, step time.Duration) map[string][]model.SamplePair {
	t.Helper()
	out := map[string][]model.SamplePair{}
	for day := range 2 {
		from := start.AddDate(0, 0, day)
		m, _, err := db.QueryRange(t.Context(), expr, promquery.Range{Start: from.Add(step), End: from.AddDate(0, 0, 1), Step: step})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range m {
			label := string(s.Metric["destination_service"])
			name, _, _ := strings.Cut(label, ".")
			name += string(s.Metric["le"])
			out[name] = append(out[name], s.Values...)
		}
	}
	return out
}

// highest is the highest value at a time for which want is true.
func highest(vs []model.SamplePair, want func(time.Time) bool) (peak float64) {
	for _, v := range vs {
		if want(v.Timestamp.Time()) {
			peak = max(peak, float64(v.Value))
		}
	}
	return peak
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	off := got/want - 1
	t.Logf("%-40s measured %9.4f, truth %9.4f: %+.2f %%", what, got, want, 100*off)
	if math.Abs(off) > tolerance {
		t.Errorf("%s: measured %v, truth %v, more than %v %% apart", what, got, want, 100*tolerance)
	}
}

// What Prometheus makes of the scrapes must be what the callers did: the reason
// why the example proves anything.
func TestMeasuredPeaksAreTrue(t *testing.T) {
	db, want := history(t), truth(t)
	instance := days(t, db, fmt.Sprintf(`max by (destination_service) (sum by (destination_service,pod) (rate(%s[2m])))`, counter), 30*time.Second)
	fleet := days(t, db, fmt.Sprintf(`sum by (destination_service) (rate(%s[2m]))`, counter), 30*time.Second)
	for name, d := range want.Dependencies {
		healthy := func(at time.Time) bool {
			return d.Stall == nil || !at.After(d.Stall.From) || at.After(d.Stall.To.Add(2*time.Minute))
		}
		sick := func(at time.Time) bool { return !healthy(at) }
		near(t, name+" busiest instance", highest(instance[name], healthy), d.Instance.Healthy.RPS, 0.02)
		near(t, name+" fleet", highest(fleet[name], healthy), d.Fleet.Healthy.RPS, 0.02)
		if d.Stall != nil {
			near(t, name+" busiest instance, stalled", highest(instance[name], sick), d.Instance.Stall.RPS, 0.02)
			near(t, name+" fleet, stalled", highest(fleet[name], sick), d.Fleet.Stall.RPS, 0.02)
		}
	}
}

// The true p99 lies in the bucket that the rank falls into, and that bucket is
// at most 3 times wide.
func TestMeasuredLatencyIsTrue(t *testing.T) {
	db, want := history(t), truth(t)
	const ok = `{response_code="200"}`
	buckets := days(t, db, fmt.Sprintf(`sum by (destination_service,le) (increase(%s_bucket%s[15m]))`, histogram, ok), 15*time.Minute)
	sums := days(t, db, fmt.Sprintf(`sum by (destination_service) (increase(%s_sum%s[15m]))`, histogram, ok), 15*time.Minute)
	bounds := istio().Bounds
	for name, d := range want.Dependencies {
		total := add(buckets[name+"+Inf"])
		near(t, name+" mean", add(sums[name])/total/1000, d.Healthy.MeanSeconds, 0.01)
		low, k := 0.0, 0
		for add(buckets[fmt.Sprintf("%s%.1f", name, bounds[k])]) < 0.99*total {
			low = bounds[k]
			k++
		}
		if p99 := 1000 * d.Healthy.P99Seconds; p99 <= low || p99 > bounds[k] || bounds[k] > 3*low {
			t.Errorf("%s: true p99 %v ms, bucket (%v, %v]", name, p99, low, bounds[k])
		}
	}
}

func add(vs []model.SamplePair) (sum float64) {
	for _, v := range vs {
		if !math.IsNaN(float64(v.Value)) {
			sum += float64(v.Value)
		}
	}
	return sum
}

// The stall must be able to spoil what is measured, or masking it shows nothing.
func TestStallWouldSpoilTheNumbers(t *testing.T) {
	d := truth(t).Dependencies["ledger"]
	if d.Instance.Stall.RPS < 1.1*d.Instance.Healthy.RPS {
		t.Errorf("the retry storm peaks at %v/s, the healthy part at %v/s", d.Instance.Stall.RPS, d.Instance.Healthy.RPS)
	}
	if d.All.P99Seconds < 9 || d.Healthy.P99Seconds > 0.1 {
		t.Errorf("p99 %v s with the stall, %v s without", d.All.P99Seconds, d.Healthy.P99Seconds)
	}
}

// README.md states the configuration in a table; neither may drift.
func TestReadmeStatesTheConfiguration(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range checkout().Dependencies {
		row := fmt.Sprintf("| %s | %v | %v ms | %v | %.1f ms | %.1f ms |", d.Name, d.Traffic.Rate, d.Latency.Median.Milliseconds(),
			strconv.FormatFloat(d.Latency.Sigma, 'f', -1, 64), 1000*d.Latency.Mean().Seconds(), 1000*d.Latency.P99().Seconds())
		if !bytes.Contains(text, []byte(row)) {
			t.Errorf("README.md lacks the row\n%s", row)
		}
	}
}

// The committed files are what the program writes today.
func TestCommittedFilesAreCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates 75 million calls")
	}
	if err := run(t.Context(), []string{"-check", "-out", ".."}); err != nil {
		t.Error(err)
	}
}

func TestCheckNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	want := map[string][]byte{"truth.json": []byte("1"), filepath.Join("history", "a"): []byte("2")}
	have := map[string][]byte{"truth.json": []byte("3"), filepath.Join("history", "b"): []byte("4")}
	err := differences(dir, want, have)
	for _, part := range []string{"truth.json is not current", "a is missing", "b is not written", "go run ./examples/checkout/generate"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want %q in it", err, part)
		}
	}
	if err := differences(dir, want, want); err != nil {
		t.Errorf("equal files differ: %v", err)
	}
}

func TestBadArguments(t *testing.T) {
	if err := run(t.Context(), []string{"here"}); err == nil || !strings.Contains(err.Error(), `"here"`) {
		t.Errorf("error %v, want the argument in it", err)
	}
}
