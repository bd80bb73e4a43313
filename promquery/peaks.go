package promquery

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/prometheus/common/model"
)

// nearPeak is the share of the fleet peak from which a step tells how many
// instances carried it and how evenly.
const nearPeak = 0.8

// maxSkews bounds the steps that are kept per group for the median skew: the
// busiest ones, 17 hours of them at a step of 15 s.
const maxSkews = 4096

// stepValues are the fine-grained answers of one chunk about one group.
type stepValues struct {
	instance, fleet, active, inFlight []model.SamplePair
}

// peakFold folds steps into a Dependency, chunk by chunk, so that memory does
// not grow with the window.
type peakFold struct {
	dep     *Dependency
	slots   *series
	margin  time.Duration
	fleetAt map[int]float64 // number of instances -> highest fleet rate seen with it
	skews   []skewAt
}

type skewAt struct{ fleet, skew float64 }

func newPeakFold(dep *Dependency, s *series, window time.Duration) *peakFold {
	margin := window
	if p99 := dep.P99.Value; !math.IsNaN(p99) {
		margin += time.Duration(p99 * float64(time.Second))
	}
	return &peakFold{dep: dep, slots: s, margin: margin, fleetAt: map[int]float64{}}
}

// fold takes one chunk. seconds scales the in-flight values.
func (f *peakFold) fold(v stepValues, seconds float64) {
	each(v.instance, func(t time.Time, x float64) { f.see(&f.dep.PeakInstance, &f.dep.PeakInstanceAll, x, t) })
	each(v.inFlight, func(t time.Time, x float64) { f.see(&f.dep.InFlight, &f.dep.InFlightAll, x*seconds, t) })
	instance, active := byTime(v.instance), byTime(v.active)
	each(v.fleet, func(t time.Time, x float64) {
		f.see(&f.dep.PeakFleet, &f.dep.PeakFleetAll, x, t)
		if n := active[t.UnixMilli()]; n >= 1 && f.slots.healthyAt(t, f.margin) {
			f.seeInstances(int(n), x, instance[t.UnixMilli()])
		}
	})
}

func (f *peakFold) see(healthy, all *Peak, x float64, t time.Time) {
	all.see(x, t)
	if f.slots.healthyAt(t, f.margin) {
		healthy.see(x, t)
	}
}

func (f *peakFold) seeInstances(n int, fleet, busiest float64) {
	f.fleetAt[n] = max(f.fleetAt[n], fleet)
	if fleet <= 0 || fleet < nearPeak*f.dep.PeakFleet.Value {
		return
	}
	f.skews = append(f.skews, skewAt{fleet, busiest / (fleet / float64(n))})
	if len(f.skews) >= 2*maxSkews {
		f.thin()
	}
}

// thin keeps the busiest steps, the earlier ones of equals. A sample over time
// would miss a short peak after a long plateau.
func (f *peakFold) thin() {
	slices.SortStableFunc(f.skews, func(a, b skewAt) int { return cmp.Compare(b.fleet, a.fleet) })
	f.skews = f.skews[:maxSkews]
}

func (f *peakFold) current() []skewAt {
	return slices.DeleteFunc(f.skews, func(s skewAt) bool { return s.fleet < nearPeak*f.dep.PeakFleet.Value })
}

// finish writes what needs the whole window.
func (f *peakFold) finish() {
	d := f.dep
	for n, fleet := range f.fleetAt {
		d.InstancesMax = max(d.InstancesMax, n)
		d.InstancesMin = lower(d.InstancesMin, n)
		if fleet >= nearPeak*d.PeakFleet.Value {
			d.InstancesAtPeak = lower(d.InstancesAtPeak, n)
		}
	}
	if near := f.current(); len(near) > 0 {
		slices.SortFunc(near, func(a, b skewAt) int { return cmp.Compare(a.skew, b.skew) })
		d.Skew = near[len(near)/2].skew
	}
}

// lower is the smaller of two counts, of which 0 means 'not seen yet'.
func lower(a, b int) int {
	if a == 0 {
		return b
	}
	return min(a, b)
}

func each(pairs []model.SamplePair, do func(time.Time, float64)) {
	for _, p := range pairs {
		if v := float64(p.Value); !math.IsNaN(v) && !math.IsInf(v, 0) {
			do(p.Timestamp.Time().UTC(), v)
		}
	}
}

func byTime(pairs []model.SamplePair) map[int64]float64 {
	m := make(map[int64]float64, len(pairs))
	each(pairs, func(t time.Time, v float64) { m[t.UnixMilli()] = v })
	return m
}
