package promquery

import (
	"fmt"
	"math"
)

// Floors of evidence: below minCalls there is no number at all; below the
// others the number is of low confidence.
const (
	minCalls       = 1000
	fewCalls       = 10000
	shortCover     = 3*day - 2*slot // a window of 3 days whose ends are not whole slots is enough
	smallCoverage  = 0.5
	wideResolution = 3.0
	tooMuchMasked  = 0.3
	// otherPopulation is how far counter and histogram may differ by extrapolation.
	otherPopulation = 0.1
)

// Verdict says what a dependency's measurement is worth.
type Verdict struct {
	// Failure says why there is no number; "" when there is one.
	Failure string
	Next    string
	// Doubts are the reasons for low confidence, in a fixed order.
	Doubts []Remark
}

// Judge applies the floors of evidence to one dependency of m.
func (m *Measurement) Judge(d *Dependency) Verdict {
	v := Verdict{}
	v.Failure, v.Next = m.failure(d)
	if v.Failure == "" {
		v.Doubts = m.doubts(d)
	}
	return v
}

func (m *Measurement) failure(d *Dependency) (failure, next string) {
	if failure, next = m.uncovered(d); failure != "" {
		return failure, next
	}
	masked := d.Slots.MaskedShare()
	switch {
	case d.CallsAll <= 0:
		return fmt.Sprintf("no traffic: the series of %s exist and counted nothing", d.Match),
			"choose a window in which it is called, or set permits by hand"
	case masked > tooMuchMasked:
		return fmt.Sprintf("%.0f %% of the time was unhealthy: what is left is no measure of healthy weather", 100*masked),
			"choose a healthier window (--start/--end, prometheus.window), or raise measure.unhealthy if this is its normal state"
	case d.Calls < minCalls:
		return fmt.Sprintf("only %.0f healthy calls: a p99 needs at least %d", d.Calls, minCalls),
			m.moreData() + ", or set permits by hand"
	case d.evidence() < minCalls:
		return fmt.Sprintf("only %.0f healthy calls are in the histogram, %.0f in the counter: a p99 needs at least %d", d.Observed, d.Calls, minCalls),
			fmt.Sprintf("check that %s and %s count the same calls; else %s, or set permits by hand", m.Series.CounterName(), m.Series.Histogram, m.moreData())
	case d.Contradiction != nil && !m.acceptsUnit(d):
		return d.Contradiction.Text, m.settle(d.Contradiction)
	case math.IsNaN(d.PeakInstance.Value) || d.PeakInstance.Value <= 0:
		return "no rate at any healthy step", "choose a longer window, or check the scrape interval"
	}
	return "", ""
}

// uncovered says why there is no slot to measure.
func (m *Measurement) uncovered(d *Dependency) (failure, next string) {
	switch {
	case d.Slots.Covered() > 0:
		return "", ""
	case d.Slots.Excluded > 0:
		return "all of its data lies in excluded times", "shorten measure.exclude, or choose a window that reaches beyond it"
	case d.Slots.Sparse > 0:
		return fmt.Sprintf("no slot of 15 minutes has 3 scrapes and half of the usual ones: the series of %s are too short, scraped too rarely or too full of gaps", d.Match),
			"choose a window in which it was scraped throughout, every 5 minutes or more often"
	}
	return fmt.Sprintf("no series of %s with %s in the window", m.Series.CounterName(), d.Match),
		"check match and the bulkhead's name against the label values in Prometheus, or the selector"
}

// acceptsUnit: the user stated the unit that the bounds speak against.
func (m *Measurement) acceptsUnit(d *Dependency) bool {
	return m.UnitStated && d.Contradiction.ID == RemarkUnit
}

func (m *Measurement) settle(contradiction *Remark) string {
	switch contradiction.ID {
	case RemarkUnit:
		return "say which one it is with prometheus.series.unit"
	case RemarkOrder:
		return "check what writes " + m.Series.Histogram + "_bucket: every bucket must count all calls at or below its bound, +Inf all of them"
	}
	return "set prometheus.series.unit if " + m.Series.Unit + " is wrong; otherwise sum and buckets are of different calls: choose series that belong together"
}

// evidence is the number of healthy calls that both rate and p99 rest on.
func (d *Dependency) evidence() float64 {
	if d.Observed > 0 {
		return min(d.Calls, d.Observed)
	}
	return d.Calls // without buckets there is no p99 to rest on them
}

// moreData says where more calls can come from: a longer window helps only
// where the present one is full.
func (m *Measurement) moreData() string {
	if m.DataStart.After(m.Start) {
		return "wait until more has been measured (the data starts inside the window)"
	}
	return "choose a longer window"
}

func (m *Measurement) doubts(d *Dependency) []Remark {
	var all []Remark
	if doubt := d.QuantileDoubt; doubt != nil {
		all = append(all, Remark{doubt.ID, "the p99 says nothing: " + doubt.Text})
	} else if !d.P99.Clipped() {
		all = append(all, WideBucket(d.P99.Low, d.P99.High)...)
	}
	if d.Contradiction != nil {
		all = append(all, *d.Contradiction)
	}
	if r := d.noQuantile(); r != nil {
		all = append(all, *r)
	}
	if d.Observed > 0 && math.Abs(d.Calls-d.Observed) > otherPopulation*max(d.Calls, d.Observed) {
		all = append(all, Remark{RemarkPopulation, fmt.Sprintf("the counter has %.0f healthy calls, the histogram %.0f: rate and p99 are of different calls", d.Calls, d.Observed)})
	}
	if d.WholeCalls > 0 && math.IsNaN(d.AttemptsPerCall) {
		all = append(all, Remark{RemarkAttempts, fmt.Sprintf("%.0f whole calls are more than their attempts: %s counts others, and the attempts per call are unknown", d.WholeCalls, m.Series.Calls)})
	}
	all = append(all, LittleData(d.evidence(), d.Slots.Covered())...)
	if share := d.Slots.Coverage(); share < smallCoverage {
		all = append(all, Remark{RemarkCoverage, fmt.Sprintf("only %.0f %% of the window has data (under 50 %%)", 100*share)})
	}
	if len(m.Incomplete) > 0 {
		all = append(all, Remark{RemarkIncomplete, fmt.Sprintf("the server warned, so its answers may lack something: %s; mend that, or ask a store that has everything", m.Incomplete[0])})
	}
	if d.Rejected > 0 {
		all = append(all, CensoredRate(d.Rejected))
	}
	return all
}

// noQuantile says why there is no p99 at all, not even a clipped one; nil: there is.
func (d *Dependency) noQuantile() *Remark {
	switch {
	case !math.IsNaN(d.P99.Value) || d.P99.Clipped():
		return nil
	case len(d.Histogram.Bounds) > 1 && d.Observed == 0:
		return &Remark{RemarkPopulation, fmt.Sprintf("the counter has %.0f healthy calls, the histogram none: check that they count the same calls", d.Calls)}
	}
	return &Remark{RemarkNoBounds, "the histogram has no finite bucket bound that holds throughout: switch buckets on, or choose a window in which the bounds did not change"}
}
