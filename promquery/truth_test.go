package promquery_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/bhsize/bhsize/internal/synth"
	"github.com/bhsize/bhsize/promquery"
)

const checkout = "../examples/checkout/"

// measureCheckout measures the example as its bulkhead.yaml does. mask false
// lets everything count.
func measureCheckout(t *testing.T, truth *synth.Truth, mask bool) *promquery.Measurement {
	t.Helper()
	istio, err := promquery.LookupPreset("istio")
	if err != nil {
		t.Fatal(err)
	}
	r := promquery.Request{Series: istio.Series, Preset: istio.Name, Selector: `source_workload="checkout"`,
		Start: truth.Start, End: truth.End, Unhealthy: usual}
	if !mask {
		r.Unhealthy = promquery.Unhealthy{Errors: 1, P99Factor: math.Inf(1)}
	}
	for name, d := range truth.Dependencies {
		r.Groups = append(r.Groups, promquery.Group{Name: name, Match: map[string][]string{"destination_service": {d.Label}}})
	}
	return measure(t, openPath(t, checkout+"history"), r)
}

func readTruth(t *testing.T) *synth.Truth {
	t.Helper()
	text, err := os.ReadFile(checkout + "truth.json")
	if err != nil {
		t.Fatal(err)
	}
	truth := &synth.Truth{}
	if err := json.Unmarshal(text, truth); err != nil {
		t.Fatal(err)
	}
	if len(truth.Dependencies) < 5 {
		t.Fatalf("%d dependencies, want 5", len(truth.Dependencies))
	}
	return truth
}

// checkTruth compares a measurement with what the generator's callers did.
func checkTruth(t *testing.T, name string, d *promquery.Dependency, truth *synth.DependencyTruth) {
	t.Helper()
	for _, c := range []struct {
		what             string
		got, want, share float64
	}{
		{"peak of the busiest instance", d.PeakInstance.Value, truth.Instance.Healthy.RPS, 0.02},
		{"peak of the fleet", d.PeakFleet.Value, truth.Fleet.Healthy.RPS, 0.02},
		{"unmasked peak of the busiest instance", d.PeakInstanceAll.Value, truth.Instance.All.RPS, 0.02},
		{"unmasked peak of the fleet", d.PeakFleetAll.Value, truth.Fleet.All.RPS, 0.02},
		{"mean", d.Mean, truth.Healthy.MeanSeconds, 0.01},
		{"unmasked mean", d.MeanAll, truth.All.MeanSeconds, 0.01},
		{"unmasked calls", d.CallsAll, float64(truth.All.Calls), 0.01},
	} {
		near(t, name+": "+c.what, c.got, c.want, c.share)
	}
	if p := truth.Healthy.P99Seconds; p < d.P99.Low || p > d.P99.High || d.QuantileDoubt != nil {
		t.Errorf("%s: p99 %+v, doubt %v; the truth is %v", name, d.P99, d.QuantileDoubt, p)
	}
}

func TestCheckoutIsMeasuredTruly(t *testing.T) {
	truth := readTruth(t)
	m := measureCheckout(t, truth, true)
	if m.ScrapeInterval != 30*time.Second || m.RateWindow != 2*time.Minute || m.Step != 30*time.Second {
		t.Errorf("interval %s, window %s, step %s", m.ScrapeInterval, m.RateWindow, m.Step)
	}
	if len(m.Unmatched)+len(m.Warnings) > 0 {
		t.Errorf("unmatched %q, warnings %q", m.Unmatched, m.Warnings)
	}
	for name, want := range truth.Dependencies {
		d := m.Dependencies[name]
		checkTruth(t, name, d, want)
		if d.InstancesMin != 3 || d.InstancesMax != 3 || d.InstancesAtPeak != 3 {
			t.Errorf("%s: %d to %d instances, %d at the peak; want 3", name, d.InstancesMin, d.InstancesMax, d.InstancesAtPeak)
		}
		near(t, name+": skew", d.Skew, 1/0.95, 0.05) // weights 1, 0.95, 0.9, and noise
		near(t, name+": in flight", d.InFlight.Value, d.PeakInstance.Value*want.Healthy.MeanSeconds, 0.05)
		v := m.Judge(d)
		if v.Failure != "" || !slices.ContainsFunc(v.Doubts, func(r promquery.Remark) bool { return r.ID == promquery.RemarkShortData }) {
			t.Errorf("%s: %+v, want a number of low confidence", name, v)
		}
	}
}

// The stall must move nothing that ledger is sized by, and the mask nothing of
// the others.
func TestStallIsMasked(t *testing.T) {
	truth := readTruth(t)
	masked, unmasked := measureCheckout(t, truth, true), measureCheckout(t, truth, false)
	for name, want := range truth.Dependencies {
		with, without := masked.Dependencies[name], unmasked.Dependencies[name]
		if want.Stall == nil {
			if len(with.Masked) > 0 || with.P99 != without.P99 || with.Calls != without.Calls {
				t.Errorf("%s did not stall, but %v is masked", name, with.Masked)
			}
			near(t, name+": calls", with.Calls, float64(want.Healthy.Calls), 0.01)
			continue
		}
		if len(with.Masked) != 1 || with.Masked[0].From.After(want.Stall.From) || with.Masked[0].To.Before(want.Stall.To) {
			t.Errorf("%s: masked %v, stalled %s to %s", name, with.Masked, want.Stall.From, want.Stall.To)
		}
		if !without.P99.Clipped() || !with.P99All.Clipped() {
			t.Errorf("%s: without the mask the p99 is %+v; the stall should show there", name, without.P99)
		}
		if high := want.Instance.Healthy.RPS; without.PeakInstance.Value < 1.1*high || with.PeakInstance.Value > 1.02*high {
			t.Errorf("%s: peak %v under the mask, %v without; the truth is %v", name, with.PeakInstance, without.PeakInstance, high)
		}
		if with.Calls >= float64(want.Healthy.Calls) || with.Calls < 0.95*float64(want.Healthy.Calls) {
			t.Errorf("%s: %v calls under the mask, %d were healthy", name, with.Calls, want.Healthy.Calls)
		}
	}
}
