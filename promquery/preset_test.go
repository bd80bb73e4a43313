package promquery_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bhsize/bhsize/internal/synth"
	"github.com/bhsize/bhsize/promquery"
)

// label is short for the tables below.
func label(name, value string) synth.Label { return synth.Label{Name: name, Value: value} }

// namings are how each instrumentation calls what every preset measures, with
// the bounds that it has out of the box where the p99 lies.
var namings = map[string]synth.Naming{
	"istio": {Counter: "istio_requests_total", Histogram: "istio_request_duration_milliseconds", Unit: time.Millisecond,
		Dependency: "destination_service", Instance: "pod", Fixed: []synth.Label{label("reporter", "source")},
		Bounds: []float64{0.5, 1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000}, Whole: true,
		Answered: []synth.Label{label("response_code", "200")}, Failed: []synth.Label{label("response_code", "503")}, TimedOut: []synth.Label{label("response_code", "0")}},
	"envoy": {Counter: "envoy_cluster_upstream_rq_xx", Histogram: "envoy_cluster_upstream_rq_time", Unit: time.Millisecond,
		Dependency: "envoy_cluster_name", Instance: "pod",
		Bounds: []float64{0.5, 1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000}, Whole: true,
		Answered: []synth.Label{label("envoy_response_code_class", "2")}, Failed: []synth.Label{label("envoy_response_code_class", "5")},
		TimedOut: []synth.Label{label("envoy_response_code_class", "5"), label("code", "504")}},
	"otel-http": {Histogram: "http_client_request_duration_seconds", Unit: time.Second,
		Dependency: "server_address", Instance: "instance",
		Bounds:   []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10},
		Answered: []synth.Label{label("http_response_status_code", "200")}, Failed: []synth.Label{label("http_response_status_code", "503"), label("error_type", "503")},
		TimedOut: []synth.Label{label("error_type", "timeout")}},
	"micrometer": {Histogram: "http_client_requests_seconds", Unit: time.Second,
		Dependency: "client_name", Instance: "instance",
		Bounds:   []float64{0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 1, 5, 30},
		Answered: []synth.Label{label("status", "200")}, Failed: []synth.Label{label("status", "503")}, TimedOut: []synth.Label{label("status", "IO_ERROR")}},
	"grpc": {Histogram: "grpc_client_call_duration_seconds", Unit: time.Second,
		Dependency: "grpc_target", Instance: "pod",
		Bounds:   []float64{0, 0.001, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100},
		Answered: []synth.Label{label("grpc_status", "OK")}, Failed: []synth.Label{label("grpc_status", "UNAVAILABLE")}, TimedOut: []synth.Label{label("grpc_status", "DEADLINE_EXCEEDED")}},
}

// history is four hours of two instances that call three dependencies: one is
// well, one fails fast for a slot, one stalls for half an hour.
func history(n synth.Naming) *synth.Config {
	at := start.Add
	flat := synth.Traffic{Rate: 20, Night: 1, Bursts: []synth.Burst{{Window: synth.Window{From: at(3 * hour), To: at(3*hour + 5*minute)}, Factor: 2}}}
	return &synth.Config{
		Seed: 7, Start: start, End: at(4 * hour), Scrape: 15 * time.Second, Step: 15 * time.Second, Window: time.Minute, Naming: n,
		Instances: []synth.Instance{{Name: "a", Offset: 3500 * time.Millisecond, Weight: 1}, {Name: "b", Offset: 9250 * time.Millisecond, Weight: 0.5}},
		Dependencies: []synth.Dependency{
			{Name: "good", Label: "good:443", Traffic: flat, Latency: synth.Lognormal{Median: 60 * time.Millisecond, Sigma: 0.4}, Errors: synth.Errors{Ratio: 0.01}},
			{Name: "failing", Label: "failing:443", Traffic: flat, Latency: synth.Lognormal{Median: 30 * time.Millisecond, Sigma: 0.4},
				Errors: synth.Errors{Ratio: 0.05, Every: 4 * hour, Spell: 15 * minute}}, // all within the first slot
			{Name: "sick", Label: "sick:443", Traffic: flat, Latency: synth.Lognormal{Median: 30 * time.Millisecond, Sigma: 0.4},
				Stall: &synth.Stall{Window: synth.Window{From: at(hour + 10*minute), To: at(hour + 40*minute)}, Timeout: 2 * time.Second, Factor: 3}},
		},
	}
}

// Every preset finds rate, latency, unit and errors under its own names.
func TestPresetsMeasureTruly(t *testing.T) {
	for _, p := range promquery.Presets() {
		t.Run(p.Name, func(t *testing.T) {
			naming, ok := namings[p.Name]
			if !ok {
				t.Fatalf("no history for preset %q: add its names above", p.Name)
			}
			h, truth, err := synth.Generate(history(naming))
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			if err := h.WriteOpenMetrics(&text); err != nil {
				t.Fatal(err)
			}
			r := request(4*hour, promquery.Group{Name: "good:443"}, promquery.Group{Name: "failing:443"}, promquery.Group{Name: "sick", Match: map[string][]string{p.Series.Dependency[0]: {"sick:443"}}})
			r.Series, r.Preset = p.Series, p.Name
			m := measure(t, openText(t, text.Bytes()), r)
			if m.ScrapeInterval != 15*time.Second || m.RateWindow != time.Minute {
				t.Errorf("interval %s, window %s", m.ScrapeInterval, m.RateWindow)
			}
			good, sick := m.Dependencies["good:443"], m.Dependencies["sick"]
			checkTruth(t, "good", good, truth.Dependencies["good"])
			checkTruth(t, "sick", sick, truth.Dependencies["sick"])
			if good.Slots.Unhealthy != 0 || len(sick.Masked) != 1 {
				t.Errorf("good: %+v; sick: masked %v", good.Slots, sick.Masked)
			}
			want := []promquery.Excluded{{From: start, To: start.Add(promquery.Slot), Reason: "error ratio above 5 %"}}
			if d := cmp.Diff(want, m.Dependencies["failing:443"].Masked); d != "" {
				t.Errorf("failing: masked (-want +got)\n%s", d)
			}
		})
	}
}
