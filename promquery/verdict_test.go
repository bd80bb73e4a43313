package promquery

import (
	"math"
	"strings"
	"testing"
	"time"
)

// judged is a dependency about which there is nothing to say.
func judged() *Dependency {
	d := newDependency("payments")
	d.Match, d.Calls, d.CallsAll, d.Observed = `peer="payments"`, 10_000, 10_000, 10_000
	d.PeakInstance = Peak{1, day1}
	d.P99 = Quantile{Value: 0.2, Low: 0.1, High: 0.3, TopBound: 10, Share: 0.1}
	d.Slots = SlotCount{Total: 3 * 96, Healthy: 3 * 96}
	return d
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		why     string
		change  func(*Dependency)
		failure string
		doubts  []string // ID: text
	}{
		{"exactly at every floor", func(*Dependency) {}, "", nil},
		{"no series", func(d *Dependency) { d.Slots = SlotCount{Total: 96, Missing: 96} }, `no series of h_count with peer="payments"`, nil},
		{"series with holes", func(d *Dependency) { d.Slots = SlotCount{Total: 96, Missing: 96, Sparse: 3} }, "3 scrapes and half of the usual ones", nil},
		{"no traffic", func(d *Dependency) { d.Calls, d.CallsAll = 0, 0 }, "no traffic", nil},
		{"30 % unhealthy", func(d *Dependency) { d.Slots = SlotCount{Total: 1000, Healthy: 700, Unhealthy: 300} }, "", nil},
		{"more", func(d *Dependency) { d.Slots = SlotCount{Total: 1000, Healthy: 699, Unhealthy: 301} }, "30 % of the time was unhealthy", nil},
		{"of the time with data, not of the window", func(d *Dependency) { d.Slots = SlotCount{Total: 1000, Healthy: 20, Unhealthy: 10, Missing: 970} }, "33 %", nil},
		{"all unhealthy is not 'no traffic'", func(d *Dependency) { d.Calls = 0; d.Slots = SlotCount{Total: 1000, Unhealthy: 1000} }, "100 % of the time", nil},
		{"what was excluded does not count towards them", func(d *Dependency) { d.Slots = SlotCount{Total: 1000, Healthy: 699, Unhealthy: 299, Excluded: 2} }, "", nil},
		{"half of the window excluded is no lack of data", func(d *Dependency) { d.Slots = SlotCount{Total: 576, Healthy: 288, Excluded: 288} }, "", nil},
		{"but what is left must be three days", func(d *Dependency) { d.Slots = SlotCount{Total: 288, Healthy: 192, Excluded: 96} }, "", []string{"short-data: only 2 days of data"}},
		{"everything excluded", func(d *Dependency) { d.Calls = 0; d.Slots = SlotCount{Total: 96, Excluded: 90, Missing: 6, Sparse: 6} }, "all of its data lies in excluded times", nil},
		{"1,000 calls", func(d *Dependency) { d.Calls, d.Observed = 1000, 1000 }, "", []string{"few-calls: only 1000 healthy calls (under 10000)"}},
		{"999 calls", func(d *Dependency) { d.Calls = 999 }, "only 999 healthy calls", nil},
		{"just under 10,000", func(d *Dependency) { d.Calls, d.Observed = 9999, 9999 }, "", []string{"only 9999 healthy calls"}},
		{"1,000 calls in the histogram", func(d *Dependency) { d.Observed = 1000 }, "", []string{"population: the counter has 10000 healthy calls, the histogram 1000", "few-calls: only 1000"}},
		{"999 calls in the histogram", func(d *Dependency) { d.Observed = 999 }, "only 999 healthy calls are in the histogram, 10000 in the counter", nil},
		{"10 % more in the counter", func(d *Dependency) { d.Observed, d.Calls = 18_000, 20_000 }, "", nil},
		{"more than that", func(d *Dependency) { d.Observed, d.Calls = 17_990, 20_000 }, "", []string{"population: "}},
		{"more in the histogram", func(d *Dependency) { d.Observed, d.Calls = 20_000, 17_990 }, "", []string{"population: "}},
		{"no buckets", func(d *Dependency) { d.Observed, d.P99 = math.NaN(), (&buckets{}).quantile(0.99, 1) }, "", []string{"no-bounds: "}},
		{"an empty histogram", func(d *Dependency) {
			d.Observed, d.Histogram, d.P99 = 0, Histogram{[]float64{1, inf}, []float64{0, 0}}, (&buckets{}).quantile(0.99, 1)
		}, "", []string{"population: the counter has 10000 healthy calls, the histogram none"}},
		{"attempts per call", func(d *Dependency) { d.WholeCalls, d.AttemptsPerCall = 9000, 10.0/9 }, "", nil},
		{"more calls than attempts", func(d *Dependency) { d.WholeCalls = 12_000 }, "", []string{"attempts: 12000 whole calls are more than their attempts"}},
		{"an impossible mean", func(d *Dependency) { d.Contradiction = &Remark{RemarkMean, "both readings"} }, "both readings", nil},
		{"an impossible unit", func(d *Dependency) { d.Contradiction = &Remark{RemarkUnit, "both readings"} }, "both readings", nil},
		{"no healthy step", func(d *Dependency) { d.PeakInstance = newDependency("").PeakInstance }, "no rate at any healthy step", nil},
		{"3 days less the ends that are no whole slots", func(d *Dependency) { d.Slots.Healthy -= 2 }, "", nil},
		{"a slot less than that", func(d *Dependency) { d.Slots.Healthy -= 3 }, "", []string{"short-data: only 71.25 hours of data (under 3 days)"}},
		{"two days", func(d *Dependency) { d.Slots.Healthy = 192; d.Slots.Total = 192 }, "", []string{"only 2 days of data"}},
		{"half of the window", func(d *Dependency) { d.Slots.Total = 6 * 96 }, "", nil},
		{"less", func(d *Dependency) { d.Slots.Total = 6*96 + 1 }, "", []string{"coverage: only 50 % of the window has data"}},
		{"bounds more than 3 times apart", func(d *Dependency) { d.P99.Low = 0.09 }, "", []string{"wide-bucket: the p99 lies somewhere between 0.09 s and 0.3 s"}},
		{"from zero", func(d *Dependency) { d.P99.Low = 0 }, "", []string{"between 0 s and 0.3 s"}},
		{"in the +Inf bucket is another finding", func(d *Dependency) { d.P99.High = inf }, "", nil},
		{"a doubted quantile's bounds do not matter", func(d *Dependency) { d.QuantileDoubt = &Remark{RemarkOneBucket, "why"}; d.P99.Low = 0 }, "", []string{"one-bucket: the p99 says nothing: why"}},
		{"a limit that bites", func(d *Dependency) { d.Rejected = 12 }, "", []string{"censored: the present limit rejected 12 calls: the rate is a floor"}},
		{"all at once, in order", func(d *Dependency) {
			d.Calls, d.Observed = 2000, 2000
			d.Slots.Healthy = 10
			d.Rejected = 1
			d.QuantileDoubt = &Remark{RemarkOneBucket, "why"}
		}, "",
			[]string{"p99 says nothing", "2000 healthy calls", "2.5 hours", "3 % of the window", "rejected 1 calls"}},
	} {
		d := judged()
		c.change(d)
		m := &Measurement{Series: Series{Histogram: "h"}, Start: day1, End: day1.Add(72 * time.Hour)}
		v := m.Judge(d)
		if (c.failure == "") != (v.Failure == "") || !strings.Contains(v.Failure, c.failure) || (v.Failure == "") != (v.Next == "") {
			t.Errorf("%s: failure %q, next %q; want %q", c.why, v.Failure, v.Next, c.failure)
		}
		if len(v.Doubts) != len(c.doubts) {
			t.Errorf("%s: doubts %q, want %q", c.why, v.Doubts, c.doubts)
			continue
		}
		if d.Contradiction != nil && !strings.Contains(v.Next, "prometheus.series.unit") {
			t.Errorf("%s: next %q, want prometheus.series.unit", c.why, v.Next)
		}
		for i, want := range c.doubts {
			if !strings.Contains(v.Doubts[i].ID+": "+v.Doubts[i].Text, want) {
				t.Errorf("%s: doubt %q, want %q", c.why, v.Doubts[i], want)
			}
		}
	}
}

func TestFallingBucketsAreNoNumber(t *testing.T) {
	d := judged()
	d.Contradiction = &Remark{RemarkOrder, "its buckets fall"}
	for _, stated := range []bool{false, true} {
		if v := (&Measurement{Series: Series{Histogram: "h"}, UnitStated: stated}).Judge(d); v.Failure != "its buckets fall" || !strings.Contains(v.Next, "h_bucket") {
			t.Errorf("%+v, want a failure that names the metric", v)
		}
	}
}

// Who says which unit it is gets a number: of low confidence, with the reason.
// An impossible mean is one in every unit of the whole series.
func TestStatedUnit(t *testing.T) {
	for id, failed := range map[string]bool{RemarkUnit: false, RemarkMean: true} {
		d := judged()
		d.Contradiction = &Remark{id, "both readings"}
		v := (&Measurement{UnitStated: true}).Judge(d)
		if (v.Failure != "") != failed || !failed && (len(v.Doubts) != 1 || v.Doubts[0] != *d.Contradiction) {
			t.Errorf("%s: %+v, want failure: %v", id, v, failed)
		}
	}
}
