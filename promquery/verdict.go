package promquery

import (
	"fmt"
	"math"
	"time"
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
)

// Verdict says what a dependency's measurement is worth.
type Verdict struct {
	// Failure says why there is no number; "" when there is one.
	Failure string
	Next    string
	// Doubts are the reasons for low confidence, in a fixed order.
	Doubts []string
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
	masked := d.Slots.MaskedShare()
	switch {
	case d.Slots.Covered() == 0 && d.Slots.Sparse > 0:
		return fmt.Sprintf("no slot of 15 minutes has half of its scrapes: the series of %s are too short or too full of gaps", d.Match),
			"choose a window in which it was scraped throughout"
	case d.Slots.Covered() == 0:
		return fmt.Sprintf("no series of %s with %s in the window", m.Series.CounterName(), d.Match),
			"check match and the bulkhead's name against the label values in Prometheus, or the selector"
	case d.CallsAll <= 0:
		return fmt.Sprintf("no traffic: the series of %s exist and counted nothing", d.Match),
			"choose a window in which it is called, or set permits by hand"
	case masked > tooMuchMasked:
		return fmt.Sprintf("%.0f %% of the time was unhealthy: what is left is no measure of healthy weather", 100*masked),
			"choose a healthier window (--start/--end, prometheus.window), or raise measure.unhealthy if this is its normal state"
	case d.Calls < minCalls:
		return fmt.Sprintf("only %.0f healthy calls: a p99 needs at least %d", d.Calls, minCalls),
			m.moreData() + ", or set permits by hand"
	case math.IsNaN(d.PeakInstance.Value) || d.PeakInstance.Value <= 0:
		return "no rate at any healthy step", "choose a longer window, or check the scrape interval"
	}
	return "", ""
}

// moreData says where more calls can come from: a longer window helps only
// where the present one is full.
func (m *Measurement) moreData() string {
	if m.DataStart.After(m.Start) {
		return "wait until more has been measured (the data starts inside the window)"
	}
	return "choose a longer window"
}

func (m *Measurement) doubts(d *Dependency) []string {
	var all []string
	add := func(when bool, format string, args ...any) {
		if when {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	add(d.QuantileDoubt != "", "the p99 says nothing: %s", d.QuantileDoubt)
	add(d.QuantileDoubt == "" && !d.P99.Clipped() && d.P99.Resolution() > wideResolution, "the p99 lies somewhere between %s s and %s s: bounds more than %g times apart",
		number(d.P99.Low), number(d.P99.High), wideResolution)
	all = append(all, LittleData(d.Calls, d.Slots.Covered())...)
	add(d.Slots.Coverage() < smallCoverage, "only %.0f %% of the window has data (under 50 %%)", 100*d.Slots.Coverage())
	add(d.Rejected > 0, "the present limit rejected %.0f calls: the rate is a floor", d.Rejected)
	return all
}

// LittleData says why so many calls over so much covered time are too few for
// full confidence; nil when they are not.
func LittleData(calls float64, covered time.Duration) []string {
	var all []string
	if calls < fewCalls {
		all = append(all, fmt.Sprintf("only %.0f healthy calls (under %d)", calls, fewCalls))
	}
	if covered < shortCover {
		all = append(all, fmt.Sprintf("only %s of data (under 3 days)", hours(covered)))
	}
	return all
}

func hours(d time.Duration) string {
	n, unit := d.Hours(), "hour"
	if d >= day && d%day == 0 {
		n, unit = float64(d/day), "day"
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%g %s", n, unit)
}
