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

func (m *Measurement) doubts(d *Dependency) []Remark {
	var all []Remark
	if doubt := d.QuantileDoubt; doubt != nil {
		all = append(all, Remark{doubt.ID, "the p99 says nothing: " + doubt.Text})
	} else if !d.P99.Clipped() {
		all = append(all, WideBucket(d.P99.Low, d.P99.High)...)
	}
	all = append(all, LittleData(d.Calls, d.Slots.Covered())...)
	if share := d.Slots.Coverage(); share < smallCoverage {
		all = append(all, Remark{RemarkCoverage, fmt.Sprintf("only %.0f %% of the window has data (under 50 %%)", 100*share)})
	}
	if d.Rejected > 0 {
		all = append(all, CensoredRate(d.Rejected))
	}
	return all
}
