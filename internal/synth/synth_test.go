package synth

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/bhsize/bhsize/promquery"
	"github.com/bhsize/bhsize/promquery/local"
)

var start = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// small is one hour of one instance at a flat rate, in seconds and without a
// counter of its own, as OpenTelemetry reports.
func small() *Config {
	return &Config{
		Seed: 7, Start: start, End: start.Add(time.Hour),
		Scrape: 15 * time.Second, Step: 15 * time.Second, Window: time.Minute,
		Instances: []Instance{{Name: "a", Offset: 3125 * time.Millisecond, Weight: 1}},
		Dependencies: []Dependency{{
			Name: "db", Label: "db.local", Traffic: Traffic{Rate: 200, Night: 1},
			Latency: Lognormal{Median: 20 * time.Millisecond, Sigma: 0.5},
			Errors:  Errors{Ratio: 0.01},
		}},
		Naming: Naming{
			Histogram: "http_client_request_duration_seconds", Unit: time.Second,
			Bounds: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25}, Dependency: "server_address", Instance: "instance",
			Failed: []Label{{"error_type", "500"}}, TimedOut: []Label{{"error_type", "timeout"}},
		},
	}
}

func generate(t *testing.T, c *Config) (*History, *Truth) {
	t.Helper()
	h, truth, err := Generate(c)
	if err != nil {
		t.Fatal(err)
	}
	return h, truth
}

// query writes the history as a block and asks it, every minute.
func query(t *testing.T, h *History, expr string, from, to time.Time) model.Matrix {
	t.Helper()
	dir := t.TempDir()
	if _, err := h.WriteBlock(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	db, err := local.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	m, _, err := db.QueryRange(t.Context(), expr, promquery.Range{Start: from, End: to, Step: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s is %v, want %v within %v %%", what, got, want, 100*tolerance)
	}
}

// The statistics of a simulation must be those of the distributions it was given.
func TestTruthFollowsTheConfiguration(t *testing.T) {
	c := small()
	_, truth := generate(t, c)
	d := truth.Dependencies["db"]
	near(t, "calls", float64(d.All.Calls), 200*3600, 0.005)
	near(t, "error ratio", float64(d.All.Errors)/float64(d.All.Calls), 0.01, 0.05)
	near(t, "mean", d.All.MeanSeconds, c.Dependencies[0].Latency.Mean().Seconds(), 0.005)
	near(t, "p99", d.All.P99Seconds, c.Dependencies[0].Latency.P99().Seconds(), 0.01)
	if d.Healthy != d.All || d.Stall != nil || d.Instance.Stall != nil {
		t.Errorf("a history without a stall has one: %+v", d)
	}
}

// Poisson: the variance of the counts per step is their mean.
func TestArrivalsArePoisson(t *testing.T) {
	h, _ := generate(t, small())
	var n, sum, squares float64
	for _, c := range h.pairs[0].counted[2:] {
		n++
		sum += float64(c)
		squares += float64(c) * float64(c)
	}
	mean := sum / n
	near(t, "mean per step", mean, 3000, 0.01)
	near(t, "variance per step", squares/n-mean*mean, mean, 0.3) // 239 steps: the estimate itself has 9 %
}

func TestQuantileIsTheNormalOne(t *testing.T) {
	for _, c := range []struct{ p, want float64 }{
		{0.5, 0}, {0.99, normalP99}, {0.01, -normalP99}, {0.975, 1.959963984540054}, {0.999, 3.090232306167813}, {1e-9, -5.997807015007773},
	} {
		if got := quantile(c.p); math.Abs(got-c.want) > 1e-8 {
			t.Errorf("quantile(%v) = %v, want %v", c.p, got, c.want)
		}
	}
}

func TestSameConfigSameBytes(t *testing.T) {
	write := func() (string, map[string]string) {
		h, truth := generate(t, small())
		var b bytes.Buffer
		if err := h.WriteOpenMetrics(&b); err != nil {
			t.Fatal(err)
		}
		if err := truth.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		path, err := h.WriteBlock(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]string{}
		for _, name := range []string{"index", "chunks/000001", "meta.json", "tombstones"} {
			text, err := os.ReadFile(filepath.Join(path, name))
			if err != nil {
				t.Fatal(err)
			}
			files[name] = string(text)
		}
		return b.String(), files
	}
	text, files := write()
	again, filesAgain := write()
	if text != again {
		t.Error("text or truth differ between two runs")
	}
	for name := range files {
		if files[name] != filesAgain[name] {
			t.Errorf("%s differs between two runs", name)
		}
	}
}

// A dependency more must not change the others' calls.
func TestPairsAreIndependent(t *testing.T) {
	one, two := small(), small()
	more := two.Dependencies[0]
	more.Name, more.Label = "cache", "cache.local"
	two.Dependencies = append([]Dependency{more}, two.Dependencies...)
	_, a := generate(t, one)
	_, b := generate(t, two)
	if a.Dependencies["db"].All != b.Dependencies["db"].All {
		t.Errorf("db changed from %+v to %+v", a.Dependencies["db"].All, b.Dependencies["db"].All)
	}
	if b.Dependencies["cache"].All == b.Dependencies["db"].All {
		t.Error("two dependencies saw the same calls")
	}
}

// Text and block hold the same samples, and text is what the reader accepts.
func TestTextAndBlockAgree(t *testing.T) {
	h, _ := generate(t, small())
	const expr = `sum by (error_type,le) (increase({__name__=~".+_bucket"}[5m]))`
	want := query(t, h, expr, start.Add(5*time.Minute), start.Add(time.Hour))
	path := filepath.Join(t.TempDir(), "h.om")
	var b bytes.Buffer
	if err := h.WriteOpenMetrics(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := local.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	got, _, err := db.QueryRange(t.Context(), expr, promquery.Range{Start: start.Add(5 * time.Minute), End: start.Add(time.Hour), Step: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != want.String() || len(want) != 14 {
		t.Errorf("%d series from text, %d from the block, want the same 2 x 7", len(got), len(want))
	}
}

// A restart sets the counters to zero; rate() must find the traffic again.
func TestRestart(t *testing.T) {
	c := small()
	at := start.Add(30*time.Minute + 7*time.Second)
	c.Instances[0].Restarts = []time.Time{at}
	h, _ := generate(t, c)
	resets := query(t, h, `sum(resets(http_client_request_duration_seconds_count[1h]))`, start.Add(time.Hour), start.Add(time.Hour))
	if len(resets) != 1 || resets[0].Values[0].Value != 2 { // of the answered and of the failed calls
		t.Errorf("resets %v, want one in each of two series", resets)
	}
	rate := query(t, h, `sum(rate(http_client_request_duration_seconds_count[10m]))`, start.Add(35*time.Minute), start.Add(35*time.Minute))
	near(t, "rate over the restart", float64(rate[0].Values[0].Value), 200, 0.03)
}

func TestGap(t *testing.T) {
	c := small()
	c.Gaps = []Window{{start.Add(20 * time.Minute), start.Add(40 * time.Minute)}}
	h, truth := generate(t, c)
	for _, s := range h.Series() {
		n := 0
		for at := range s.Samples() {
			if c.Gaps[0].holds(time.UnixMilli(at)) {
				t.Fatalf("%s: a sample at %s, in the gap", s.Labels, time.UnixMilli(at).UTC())
			}
			n++
		}
		if s.Labels.Get("le") == "+Inf" && s.Labels.Get("error_type") == "" && n != 240-80 {
			t.Errorf("%d samples, want 160", n)
		}
	}
	_, whole := generate(t, small())
	if truth.Dependencies["db"].All != whole.Dependencies["db"].All {
		t.Error("a gap in the scrapes changed what happened")
	}
}

func TestStall(t *testing.T) {
	c := small()
	c.Dependencies[0].Stall = &Stall{Window: Window{start.Add(20 * time.Minute), start.Add(30 * time.Minute)}, Timeout: 5 * time.Second, Factor: 2}
	h, truth := generate(t, c)
	d := truth.Dependencies["db"]
	near(t, "calls while stalled", float64(d.All.Calls-d.Healthy.Calls), 200*2*600, 0.02)
	near(t, "healthy mean", d.Healthy.MeanSeconds, c.Dependencies[0].Latency.Mean().Seconds(), 0.005)
	near(t, "peak while stalled", d.Instance.Stall.RPS, 400, 0.05)
	near(t, "healthy peak", d.Instance.Healthy.RPS, 200, 0.05)
	if d.Instance.All != *d.Instance.Stall {
		t.Errorf("the storm is the peak, but all is %+v", d.Instance.All)
	}
	timeouts := query(t, h, `sum by (le) (http_client_request_duration_seconds_bucket{error_type="timeout"})`, start.Add(time.Hour), start.Add(time.Hour))
	for _, s := range timeouts {
		if v := s.Values[0].Value; (s.Metric["le"] == "+Inf") != (v > 0) {
			t.Errorf("bucket %s holds %v timeouts", s.Metric["le"], v)
		}
	}
	if len(timeouts) != 7 {
		t.Errorf("%d buckets of timeouts, want 7", len(timeouts))
	}
}

// The counted windows are those that rate() looks at: (t-W, t].
func TestPeakIsTheCountOfItsWindow(t *testing.T) {
	h, truth := generate(t, small())
	peak := truth.Dependencies["db"].Instance.All
	k := int(peak.Time.Sub(start) / (15 * time.Second))
	sum := 0
	for _, n := range h.pairs[0].counted[k-3 : k+1] {
		sum += int(n)
	}
	if sum != peak.Calls || peak.RPS != decimals(float64(sum)/60, 4) {
		t.Errorf("peak %+v, but its window holds %d calls", peak, sum)
	}
}

func TestTextIsOpenMetrics(t *testing.T) {
	c := small()
	c.Naming.Fixed = []Label{{"odd", "a\\b\"c\nd"}}
	c.Naming.Counter = "calls_total"
	h, _ := generate(t, c)
	var b bytes.Buffer
	if err := h.WriteOpenMetrics(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		"# TYPE calls counter\ncalls_total{", "# TYPE http_client_request_duration_seconds histogram\n", `odd="a\\b\"c\nd"`, `le="0.005"`, `le="+Inf"`, " 1767571203.125\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("text lacks %q", want)
		}
	}
	if !strings.HasSuffix(text, "\n# EOF\n") || strings.Count(text, "# TYPE") != 2 {
		t.Error("text lacks its end mark, or families are split")
	}
}

// A series is absent until its first call, unless it is there from the start.
func TestSeriesBegin(t *testing.T) {
	c := small()
	c.Dependencies[0].Stall = &Stall{Window: Window{start.Add(20 * time.Minute), start.Add(30 * time.Minute)}, Timeout: 5 * time.Second, Factor: 1}
	h, _ := generate(t, c)
	for _, fromStart := range []bool{false, true} {
		c.FromStart = fromStart
		for _, s := range h.Series() {
			if s.Labels.Get("error_type") != "timeout" {
				continue
			}
			if first := begin(s); first.Before(start.Add(20*time.Minute)) != fromStart {
				t.Errorf("%s begins at %s", s.Labels.Get(model.MetricNameLabel), first)
			}
		}
	}
}

func begin(s Series) time.Time {
	for at := range s.Samples() {
		return time.UnixMilli(at).UTC()
	}
	return time.Time{}
}

func TestTrafficCurve(t *testing.T) {
	tr := Traffic{Rate: 100, Night: 0.25, Humps: []Hump{{Hour: 23, Height: 0.75, Width: 2}}, Bursts: []Burst{{Window{start.Add(time.Hour), start.Add(2 * time.Hour)}, 3}}}
	for _, c := range []struct {
		why  string
		at   time.Duration
		want float64
	}{
		{"the top", 23 * time.Hour, 100},
		{"across midnight", 25 * time.Hour, 25 + 75*math.Exp(-0.5)},
		{"in the burst", time.Hour, 3 * (25 + 75*math.Exp(-0.5))},
		{"after the burst", 2 * time.Hour, 25 + 75*math.Exp(-9.0/8)},
		{"far from the hump", 11 * time.Hour, 25},
	} {
		near(t, c.why, tr.At(start.Add(c.at)), c.want, 1e-6)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*Config)
	}{
		{"step 0s", func(c *Config) { c.Step = 0 }},
		{"window 20s", func(c *Config) { c.Window = 20 * time.Second }},
		{"scrape interval 0s", func(c *Config) { c.Scrape = 0 }},
		{"multiples of the step", func(c *Config) { c.Start = c.Start.Add(time.Second) }},
		{"at least the window", func(c *Config) { c.End = c.Start.Add(30 * time.Second) }},
		{"no instance", func(c *Config) { c.Instances = nil }},
		{"offset 15s", func(c *Config) { c.Instances[0].Offset = 15 * time.Second }},
		{"median above 0", func(c *Config) { c.Dependencies[0].Latency.Median = 0 }},
		{"ratio from 0 to 1", func(c *Config) { c.Dependencies[0].Errors.Ratio = math.NaN() }},
		{"without a timeout", func(c *Config) { c.Dependencies[0].Stall = &Stall{} }},
		{"width above 0", func(c *Config) { c.Dependencies[0].Traffic.Humps = []Hump{{}} }},
		{"rate NaN", func(c *Config) { c.Dependencies[0].Traffic.Rate = math.NaN() }},
		{"a counter, a histogram, or both", func(c *Config) { c.Naming.Histogram = "" }},
		{"unit 0s", func(c *Config) { c.Naming.Unit = 0 }},
		{"rising bounds", func(c *Config) { c.Naming.Bounds = []float64{1, 1} }},
	} {
		config := small()
		c.change(config)
		if _, _, err := Generate(config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q in it", err, c.want)
		}
	}
}
