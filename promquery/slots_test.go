package promquery

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var day1 = time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC)

const interval15 = 15 * time.Second

var unhealthy = Unhealthy{Errors: 0.05, P99Factor: 4}

// quick is a fully scraped slot of so many calls of at most 100 ms.
func quick(calls float64) slotData {
	return slotData{samples: 60, calls: calls, sum: calls * 0.05, hist: hist(0.1, calls, 0.3, calls, 1, calls, inf, calls)}
}

// slow is one in which all calls lie in the bucket that ends at bound.
func slow(calls, bound float64) slotData {
	d := quick(calls)
	for i, b := range d.hist.bounds {
		if b < bound {
			d.hist.counts[i] = 0
		}
	}
	return d
}

func with(d slotData, change func(*slotData)) slotData {
	change(&d)
	return d
}

func seriesOf(slots ...slotData) *series { return &series{start: day1, slots: slots} }

func TestClassify(t *testing.T) {
	errors := func(calls, errors float64) slotData {
		return with(quick(calls), func(d *slotData) { d.errors = errors })
	}
	for _, c := range []struct {
		why    string
		slot   slotData
		state  slotState
		reason string
	}{
		{"a good slot", quick(1000), slotHealthy, ""},
		{"19 calls are no evidence of errors", errors(19, 19), slotHealthy, ""},
		{"20 are", errors(20, 20), slotUnhealthy, "error ratio above 5 %"},
		{"exactly 5 % is not above it", errors(1000, 50), slotHealthy, ""},
		{"just above", errors(1000, 50.1), slotUnhealthy, "error ratio above 5 %"},
		{"errors that the counter of calls does not see", errors(0, 100), slotUnhealthy, "error ratio above 5 %"},
		{"99 slow calls are no evidence", slow(99, 1), slotHealthy, ""},
		{"100 are", slow(100, 1), slotUnhealthy, "p99 above 4 times the median slot's"},
		{"slower, but not 4 times", slow(1000, 0.3), slotHealthy, ""},
		{"above the last bound is infinitely slow", slow(1000, inf), slotUnhealthy, "p99 above 4 times the median slot's"},
		{"half of the scrapes are enough", with(quick(1000), func(d *slotData) { d.samples = 30 }), slotHealthy, ""},
		{"less is missing, whatever the errors", with(errors(1000, 1000), func(d *slotData) { d.samples = 29 }), slotMissing, ""},
		{"no scrape at all", slotData{}, slotMissing, ""},
		{"no calls are healthy", quick(0), slotHealthy, ""},
		{"rejections are neither errors nor calls", with(quick(100), func(d *slotData) { d.rejected = 1e6 }), slotHealthy, ""},
		{"errors before slowness", with(slow(1000, 1), func(d *slotData) { d.errors = 900 }), slotUnhealthy, "error ratio above 5 %"},
	} {
		s := seriesOf(quick(1000), quick(1000), c.slot, quick(1000), quick(1000))
		s.classify(interval15, unhealthy, nil, 1)
		if got := s.slots[2]; got.state != c.state || got.reason != c.reason {
			t.Errorf("%s: state %d, reason %q; want %d, %q", c.why, got.state, got.reason, c.state, c.reason)
		}
		for _, i := range []int{0, 1, 3, 4} {
			if s.slots[i].state != slotHealthy {
				t.Errorf("%s: its neighbour %d is in state %d", c.why, i, s.slots[i].state)
			}
		}
	}
}

// Where nothing is measured often enough, nothing is slow.
func TestNoMedianNoSlowness(t *testing.T) {
	s := seriesOf(slow(99, 1), quick(99))
	s.classify(interval15, unhealthy, nil, 1)
	if c := s.count(); c.Healthy != 2 {
		t.Errorf("%+v", c)
	}
}

func TestExcludedWindows(t *testing.T) {
	at := func(minutes float64) time.Time { return day1.Add(time.Duration(minutes * float64(time.Minute))) }
	for _, c := range []struct {
		why      string
		from, to time.Time
		want     []int // slots
	}{
		{"a whole slot touches no neighbour", at(15), at(30), []int{1}},
		{"a moment within a slot", at(16), at(17), []int{1}},
		{"over a border", at(29.5), at(30.5), []int{1, 2}},
		{"a moment on a border is in neither", at(30), at(30), nil},
		{"from before the window to after it", at(-100), at(100), []int{0, 1, 2}},
		{"outside", at(45), at(60), nil},
		{"nanoseconds count", at(30).Add(-1), at(30).Add(1), []int{1, 2}},
	} {
		s := seriesOf(quick(1000), quick(1000), quick(1000))
		s.classify(interval15, unhealthy, []Excluded{{c.from, c.to, "drill"}}, 1)
		var got []int
		for i, d := range s.slots {
			if d.state == slotExcluded {
				got = append(got, i)
				if d.reason != "excluded: drill" {
					t.Errorf("%s: reason %q", c.why, d.reason)
				}
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: excluded slots (-want +got)\n%s", c.why, d)
		}
	}
}

func TestMaskedAreMergedByReason(t *testing.T) {
	bad := with(quick(1000), func(d *slotData) { d.errors = 900 })
	s := seriesOf(bad, bad, quick(1000), slow(1000, 1), bad, slotData{}, bad, quick(1000), quick(1000), quick(1000))
	s.classify(interval15, unhealthy, []Excluded{{From: day1.Add(2 * slot), To: day1.Add(3 * slot)}}, 1)
	span := func(from, to int, why string) Excluded {
		return Excluded{day1.Add(time.Duration(from) * slot), day1.Add(time.Duration(to) * slot), why}
	}
	const errors = "error ratio above 5 %"
	want := []Excluded{span(0, 2, errors), span(2, 3, "excluded: no reason given"),
		span(3, 4, "p99 above 4 times the median slot's"), span(4, 5, errors), span(6, 7, errors)}
	if d := cmp.Diff(want, s.masked()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if d := cmp.Diff(SlotCount{Total: 10, Healthy: 3, Unhealthy: 5, Excluded: 1, Missing: 1}, s.count()); d != "" {
		t.Errorf("counts (-want +got)\n%s", d)
	}
}

func TestSlotOfATime(t *testing.T) {
	s := seriesOf(quick(1), quick(2), quick(3))
	for _, c := range []struct {
		why          string
		t            time.Duration
		ended, holds float64 // calls of the slot that ends here, and of the one that holds the step; 0: none
	}{
		{"the start ends nothing", 0, 0, 0},
		{"just after it", time.Second, 0, 1},
		{"the first slot's end", slot, 1, 1},
		{"just after the border", slot + time.Nanosecond, 1, 2},
		{"the window's end", 3 * slot, 3, 3},
		{"after it", 3*slot + time.Second, 3, 0},
		{"long after it", 9 * slot, 0, 0},
		{"before the window", -time.Second, 0, 0},
		{"long before it", -9 * slot, 0, 0},
	} {
		for _, look := range []struct {
			what string
			got  *slotData
			want float64
		}{{"at", s.at(day1.Add(c.t)), c.ended}, {"holding", s.holding(day1.Add(c.t)), c.holds}} {
			calls := 0.0
			if look.got != nil {
				calls = look.got.calls
			}
			if calls != look.want {
				t.Errorf("%s: %s gives the slot of %v calls, want %v", c.why, look.what, calls, look.want)
			}
		}
	}
}

func TestHealthySteps(t *testing.T) {
	bad := with(quick(1000), func(d *slotData) { d.errors = 900 })
	// slots: 0 good, 1 bad, 2 good, 3 missing, 4 good, 5 good
	s := seriesOf(quick(1000), bad, quick(1000), slotData{}, quick(1000), quick(1000))
	s.classify(interval15, unhealthy, nil, 1)
	const margin = 2*time.Minute + 300*time.Millisecond
	for _, c := range []struct {
		why    string
		t      time.Duration
		margin time.Duration
		want   bool
	}{
		{"well within a good slot", 5 * time.Minute, margin, true},
		{"the step on the border belongs to the good slot before, but calls overlap", slot, margin, false},
		{"the margin before the bad slot", slot - margin + time.Second, margin, false},
		{"before the margin", slot - margin - time.Second, margin, true},
		{"in the bad slot", slot + 7*time.Minute, margin, false},
		{"its last step", 2 * slot, margin, false},
		{"the margin after it", 2*slot + margin - time.Second, margin, false},
		{"the margin's last moment reaches back to the border", 2*slot + margin, margin, false},
		{"after the margin", 2*slot + margin + time.Millisecond, margin, true},
		{"without a margin the next step counts", 2*slot + time.Millisecond, 0, true},
		{"in a missing slot", 3*slot + time.Minute, margin, false},
		{"a missing slot masks no neighbour", 4*slot + time.Second, margin, true},
		{"a margin longer than a slot sees the slot between", 4*slot + 5*time.Minute, 2*slot + 10*time.Minute, false},
		{"and no further", 5*slot + time.Minute, 2 * slot, true},
		{"before the window", -time.Minute, margin, false},
		{"after the window", 7 * slot, margin, false},
	} {
		if got := s.healthyAt(day1.Add(c.t), c.margin); got != c.want {
			t.Errorf("%s: %v", c.why, got)
		}
	}
}

// By hand: two healthy slots of 600 and 300 calls, one sick of 900, one missing.
func TestFoldByHand(t *testing.T) {
	s := seriesOf(
		slotData{samples: 60, calls: 600, sum: 60, hist: hist(0.1, 400, 0.2, 597, 1, 600, inf, 600)},
		slotData{samples: 60, calls: 900, errors: 500, sum: 9000, hist: hist(0.1, 0, 0.2, 0, 1, 0, inf, 900)},
		slotData{samples: 60, calls: 300, sum: 12, hist: hist(0.1, 200, 0.2, 294, 1, 300, inf, 300)},
		slotData{samples: 29, calls: 5000, sum: 5000, hist: hist(0.1, 0, 0.2, 0, 1, 5000, inf, 5000)},
	)
	s.classify(interval15, unhealthy, nil, 1)
	d := newDependency("x")
	s.fold(d, "s", 1)
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"calls", d.Calls, 900},
		{"calls unmasked", d.CallsAll, 1800},
		{"calls in the histogram", d.Observed, 900},
		{"mean", d.Mean, 72.0 / 900},
		{"mean unmasked", d.MeanAll, 9072.0 / 1800},
		// rank 891 of 900 is in (0.1, 0.2], which holds the calls 601 to 891.
		{"p99", d.P99.Value, 0.2},
		{"p99's bucket", d.P99.Share, 291.0 / 900},
		{"p99 from", d.P99.Low, 0.1},
		{"p99 to", d.P99.High, 0.2},
		{"unmasked from", d.P99All.Low, 1},
		{"unmasked to", d.P99All.High, inf},
	} {
		if c.got != c.want && !(math.Abs(c.got-c.want) < 1e-12) {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	want := Histogram{Bounds: []float64{0.1, 0.2, 1, inf}, Counts: []float64{600, 891, 900, 900}}
	if d := cmp.Diff(want, d.Histogram); d != "" {
		t.Errorf("healthy histogram (-want +got)\n%s", d)
	}
	if d := cmp.Diff([]float64{600.0 / 900, 300.0 / 900}, d.SlotRates); d != "" {
		t.Errorf("rates of healthy slots (-want +got)\n%s", d)
	}
	if d := cmp.Diff(SlotCount{Total: 4, Healthy: 2, Unhealthy: 1, Missing: 1, Sparse: 1}, d.Slots); d != "" {
		t.Errorf("slots (-want +got)\n%s", d)
	}
}

// A summary without buckets still has a mean.
func TestMeanWithoutBuckets(t *testing.T) {
	s := seriesOf(slotData{samples: 60, calls: 100, sum: 5}, slotData{samples: 60, calls: 300, sum: 15})
	s.classify(interval15, unhealthy, nil, 1)
	d := newDependency("x")
	s.fold(d, "s", 1)
	if d.Mean != 0.05 || !math.IsNaN(d.P99.Value) || d.P99.Clipped() || !math.IsNaN(d.Observed) {
		t.Errorf("mean %v, p99 %+v, %v observed", d.Mean, d.P99, d.Observed)
	}
	if r := d.noQuantile(); r == nil || r.ID != RemarkNoBounds || d.QuantileDoubt != nil {
		t.Errorf("said %v, doubt %v; want only that there are no bounds", r, d.QuantileDoubt)
	}
}

func TestAttemptsPerCall(t *testing.T) {
	both := func(calls, whole float64) slotData {
		return with(quick(calls), func(d *slotData) { d.whole = whole })
	}
	nan := math.NaN()
	for _, c := range []struct {
		why            string
		slots          []slotData
		whole, perCall float64
	}{
		{"retries", []slotData{both(1200, 1000), both(1000, 1000)}, 2000, 1.1},
		{"none", []slotData{both(1000, 1000)}, 1000, 1},
		{"unknown", []slotData{quick(1000)}, nan, nan},
		{"a slot without whole calls says nothing", []slotData{both(1100, 1000), quick(5000)}, 1000, 1.1},
		{"nor does one without attempts", []slotData{both(1100, 1000), both(0, 5000)}, 1000, 1.1},
		{"nor an unhealthy one", []slotData{both(1100, 1000), with(both(9000, 1000), func(d *slotData) { d.errors = 8000 })}, 1000, 1.1},
		{"nor a missing one", []slotData{both(1100, 1000), with(both(9000, 1000), func(d *slotData) { d.samples = 10 })}, 1000, 1.1},
		{"1 % fewer is extrapolation", []slotData{both(990, 1000)}, 1000, 1},
		{"3 % fewer are other calls", []slotData{both(970, 1000)}, 1000, nan},
	} {
		s := seriesOf(c.slots...)
		s.classify(interval15, unhealthy, nil, 1)
		d := newDependency("x")
		s.fold(d, "s", 1)
		if diff := cmp.Diff([]float64{c.whole, c.perCall}, []float64{d.WholeCalls, d.AttemptsPerCall}, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.why, diff)
		}
	}
}

// A metric of its own, as Envoy's overflow, counts 503s that are errors too.
func TestSettleRejected(t *testing.T) {
	for _, c := range []struct {
		why      string
		separate bool
		want     float64 // errors left in the first slot
	}{
		{"a matcher keeps them out of the errors from the start", false, 100},
		{"a metric of its own is taken out", true, 40},
	} {
		s := seriesOf(slotData{errors: 100, rejected: 60}, slotData{errors: 5, rejected: 7})
		if total := s.settleRejected(c.separate); total != 67 {
			t.Errorf("%s: %v rejected in all", c.why, total)
		}
		if got := s.slots[0].errors; got != c.want {
			t.Errorf("%s: %v errors", c.why, got)
		}
		if got := s.slots[1].errors; got < 0 {
			t.Errorf("%s: %v errors", c.why, got)
		}
	}
}
