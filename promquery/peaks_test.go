package promquery

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/common/model"
)

// step is one evaluation: the busiest instance, the fleet, how many are active.
type step struct{ instance, fleet, active float64 }

// folded folds steps of 15 s from the start of a history of good slots, in
// chunks of so many.
func folded(slots []slotData, chunk int, steps ...step) *Dependency {
	d := newDependency("x")
	f := newPeakFold(d, seriesOf(slots...), time.Minute)
	for from := 0; from < len(steps); from += chunk {
		v := stepValues{}
		for i, s := range steps[from:min(from+chunk, len(steps))] {
			at := model.TimeFromUnixNano(day1.Add(time.Duration(from+i+1) * interval15).UnixNano())
			v.instance = append(v.instance, model.SamplePair{Timestamp: at, Value: model.SampleValue(s.instance)})
			v.fleet = append(v.fleet, model.SamplePair{Timestamp: at, Value: model.SampleValue(s.fleet)})
			v.inFlight = append(v.inFlight, model.SamplePair{Timestamp: at, Value: model.SampleValue(s.instance * 50)})
			if s.active > 0 { // 'count' gives no zero
				v.active = append(v.active, model.SamplePair{Timestamp: at, Value: model.SampleValue(s.active)})
			}
		}
		f.fold(v, 1e-3)
	}
	f.finish()
	return d
}

// good are so many healthy slots: 60 steps each.
func good(n int) []slotData {
	s := slices.Repeat([]slotData{quick(1000)}, n)
	for i := range s {
		s[i].state = slotHealthy
	}
	return s
}

func TestInstancesAndSkew(t *testing.T) {
	for _, c := range []struct {
		why              string
		steps            []step
		atPeak, min, max int
		skew             float64
	}{
		{"one step", []step{{30, 100, 4}}, 4, 4, 4, 1.2},
		{"only steps within 80 % of the peak tell", []step{{30, 100, 4}, {50, 79.9, 2}}, 4, 2, 4, 1.2},
		{"exactly 80 % is within", []step{{25, 100, 4}, {40, 80, 2}}, 2, 2, 4, 1},
		{"a higher peak later outdates earlier steps", []step{{40, 80, 2}, {25, 101, 4}}, 4, 2, 4, 100 / 101.0},
		{"the median, not the worst", []step{{25, 100, 4}, {25, 100, 4}, {25, 100, 4}, {100, 100, 4}, {30, 100, 4}}, 4, 4, 4, 1},
		{"night with one instance does not count", []step{{1, 1, 1}, {30, 100, 4}, {1, 1, 1}}, 4, 1, 4, 1.2},
		{"nothing active tells nothing", []step{{0, 0, 0}}, 0, 0, 0, math.NaN()},
		{"active but without traffic", []step{{0, 0, 3}}, 3, 3, 3, math.NaN()},
	} {
		for _, chunk := range []int{1, 2, 100} {
			d := folded(good(1), chunk, c.steps...)
			got := Dependency{InstancesAtPeak: d.InstancesAtPeak, InstancesMin: d.InstancesMin, InstancesMax: d.InstancesMax, Skew: d.Skew}
			want := Dependency{InstancesAtPeak: c.atPeak, InstancesMin: c.min, InstancesMax: c.max, Skew: c.skew}
			if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
				t.Errorf("%s, in chunks of %d (-want +got)\n%s", c.why, chunk, diff)
			}
		}
	}
}

func TestPeaksUnderTheMask(t *testing.T) {
	slots := good(3)
	slots[1].state = slotUnhealthy
	steps := slices.Repeat([]step{{1, 2, 2}}, 180)
	for i, s := range map[int]step{
		30:  {10, 15, 2}, // 7.75 min: the healthy peak of one instance
		40:  {8, 16, 2},  // 10.25 min: that of the fleet
		57:  {20, 30, 2}, // 14.5 min: half a minute before the storm, within the rate window
		90:  {50, 99, 5}, // 22.75 min: the storm itself
		121: {40, 60, 2}, // 30.5 min: its tail in the window
	} {
		steps[i] = s
	}
	d := folded(slots, 180, steps...)
	at := func(i int) time.Time { return day1.Add(time.Duration(i+1) * interval15) }
	for _, c := range []struct {
		what      string
		got, want Peak
	}{
		{"busiest instance", d.PeakInstance, Peak{10, at(30)}},
		{"busiest instance, unmasked", d.PeakInstanceAll, Peak{50, at(90)}},
		{"fleet", d.PeakFleet, Peak{16, at(40)}},
		{"fleet, unmasked", d.PeakFleetAll, Peak{99, at(90)}},
		{"in flight", d.InFlight, Peak{0.5, at(30)}},
		{"in flight, unmasked", d.InFlightAll, Peak{2.5, at(90)}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.what, diff)
		}
	}
	if d.InstancesMax != 2 {
		t.Errorf("the storm's %d instances count", d.InstancesMax)
	}
}

// The margin is the rate window and the p99: calls that started in the mask end
// so much later.
func TestMarginHoldsTheP99(t *testing.T) {
	for _, c := range []struct {
		why  string
		p99  float64
		want time.Duration
	}{
		{"unknown", math.NaN(), time.Minute},
		{"measured", 2.5, time.Minute + 2500*time.Millisecond},
	} {
		f := newPeakFold(&Dependency{P99: Quantile{Value: c.p99}}, seriesOf(), time.Minute)
		if f.margin != c.want {
			t.Errorf("%s: %s, want %s", c.why, f.margin, c.want)
		}
	}
}

// NaN and infinities come from 0/0 in a recording rule or a broken exporter.
func TestOddSamplesAreIgnored(t *testing.T) {
	for _, odd := range []float64{math.NaN(), inf, -inf} {
		d := folded(good(1), 100, step{odd, odd, odd}, step{3, 6, 2}, step{odd, odd, odd})
		if d.PeakInstanceAll.Value != 3 || d.PeakFleetAll.Value != 6 || d.InstancesMax != 2 || d.Skew != 1 {
			t.Errorf("%v: %+v", odd, d)
		}
	}
}

// Three weeks of steps are many times maxSkews. The median of what is kept is
// that of all.
func TestThinning(t *testing.T) {
	const n = 20 * maxSkews
	random := rand.New(rand.NewPCG(3, 4))
	steps := make([]step, n)
	var all []float64
	for i := range steps {
		s := step{fleet: 90 + 10*random.Float64(), active: 4}
		s.instance = s.fleet / 4 * (1 + 0.3*random.Float64())
		steps[i] = s
		all = append(all, s.instance/(s.fleet/4))
	}
	slices.Sort(all)
	want := all[n/2]
	slots := good(n/60 + 1)
	for _, chunk := range []int{n, 5760, 97} {
		if got := folded(slots, chunk, steps...).Skew; !(math.Abs(got-want) <= 0.01*want) {
			t.Errorf("in chunks of %d: %v, want %v within 1 %%", chunk, got, want)
		}
	}
	if one, other := folded(slots, n, steps...).Skew, folded(slots, 97, steps...).Skew; one != other {
		t.Errorf("%v or %v, by the chunks", one, other)
	}
}

// A short peak after weeks of level traffic has its own skew, not none.
func TestShortPeakAfterLongPlateau(t *testing.T) {
	const n = 20 * maxSkews
	steps := slices.Repeat([]step{{30, 100, 4}}, n)
	copy(steps[n-4:], slices.Repeat([]step{{60, 150, 4}}, 4))
	d := folded(good(n/60+1), 5760, steps...)
	if math.Abs(d.Skew-1.6) > 1e-12 {
		t.Errorf("skew %v, want 1.6", d.Skew)
	}
}
