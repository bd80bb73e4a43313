package promquery

import (
	"math"
	"strconv"
	"time"
)

// Request says what to measure. Times are absolute: this package has no clock.
type Request struct {
	Series   Series
	Preset   string // name of the preset, for the record
	Selector string // the user's own matchers, as PromQL
	Groups   []Group
	// UnitStated says that the user stated Series.Unit, so that doubtful bounds
	// are a doubt and no failure.
	UnitStated bool
	// Start and End bound the window; both are moved to slot borders.
	Start, End time.Time
	Unhealthy  Unhealthy
	Exclude    []Excluded
	// Progress, if set, is called after every query.
	Progress func(done, total int)
}

// Unhealthy says when a slot is left out of peak and p99 alike.
type Unhealthy struct {
	Errors    float64 // error ratio above which a slot (of at least 20 calls) is unhealthy
	P99Factor float64 // so many times the median slot's p99 (slots of at least 100 calls)
}

// Excluded is a time range that does not count, and why.
type Excluded struct {
	From, To time.Time
	Reason   string
}

// Measurement is everything that was asked and what came back.
type Measurement struct {
	Preset         string
	Series         Series
	Selector       string
	UnitStated     bool          // as requested
	Start, End     time.Time     // the window asked for, on slot borders
	DataStart      time.Time     // the first slot with data in it
	ScrapeInterval time.Duration // of the median series, read from the data
	RateWindow     time.Duration // max(1m, 4 x scrape interval), longer where a group is scraped more rarely
	Step           time.Duration // of the peak queries: RateWindow/4
	Queries        []Query
	Requests       int // queries sent, all chunks counted
	// Incomplete are the server's own warnings, as far as they were kept: the
	// answers may lack something. Infos are not among them.
	Incomplete   []string
	Warnings     []string               // this package's own, then at most 20 of the server's and how many more there were
	Dependencies map[string]*Dependency // by group name
	Unmatched    []string               // dependency keys with data that no group names, sorted, for people: long ones are cut
}

// Query is one expression that was sent, for a colleague to paste.
type Query struct {
	Purpose string
	Expr    string
	Step    time.Duration
}

// Peak is a highest value and the moment of it.
type Peak struct {
	Value float64 // NaN: never seen
	At    time.Time
}

func (p *Peak) see(v float64, at time.Time) {
	if math.IsNaN(p.Value) || v > p.Value {
		p.Value, p.At = v, at
	}
}

// Dependency is the measurement of one group. The plain fields are taken under
// the healthy mask; those ending in All are not.
type Dependency struct {
	Name            string
	Match           string // the labels that select it, for people
	PeakInstance    Peak   // calls a second of the busiest instance, W-average
	PeakInstanceAll Peak
	PeakFleet       Peak // calls a second of all instances
	PeakFleetAll    Peak
	InFlight        Peak // mean calls in flight of the busiest instance
	InFlightAll     Peak
	// InstancesAtPeak is the fewest active instances at a healthy step within
	// 80 % of the fleet peak; InstancesMin and InstancesMax are over all healthy steps.
	InstancesAtPeak            int
	InstancesMin, InstancesMax int
	// Skew is the busiest instance's rate over the mean instance's: the median
	// over the healthy steps within 80 % of the fleet peak.
	Skew      float64
	P99       Quantile
	P99All    Quantile
	Mean      float64 // seconds; NaN: unknown
	MeanAll   float64
	Calls     float64 // healthy calls in the window, by the counter
	CallsAll  float64
	Observed  float64   // the same by the histogram, which the p99 rests on; NaN: it has no buckets
	Histogram Histogram // of the healthy calls; empty: it has no buckets
	Rejected  float64   // refused by the service's own limit; NaN: the source does not know
	SlotRates []float64 // fleet calls a second in every healthy slot
	Slots     SlotCount
	Masked    []Excluded // unhealthy and excluded slots, merged where they touch
	// WholeCalls are the calls by Series.Calls in the healthy slots that have
	// attempts and calls both; NaN: unknown. AttemptsPerCall is the number of
	// attempts per call in them, at least 1; NaN where it is unknown, or the
	// attempts are too few to be those of these calls (then WholeCalls is known).
	WholeCalls, AttemptsPerCall float64
	// QuantileDoubt says why the quantile means nothing though it is a number,
	// while the mean holds: RemarkOneBucket, RemarkBounds or RemarkOrder. Nil: no doubt.
	QuantileDoubt *Remark
	// Contradiction says why no number of this series can be trusted, mean
	// included: RemarkUnit, RemarkMean or RemarkOrder. Nil: none.
	Contradiction *Remark
}

// SlotCount counts the 15-minute slots of the window.
type SlotCount struct {
	Total, Healthy, Unhealthy, Missing int
	Excluded                           int // those with data that the user excluded: neither healthy nor unhealthy
	Sparse                             int // those of the missing ones that have some scrapes
}

// Covered is the time with data that the user did not exclude.
func (c SlotCount) Covered() time.Duration { return time.Duration(c.Healthy+c.Unhealthy) * slot }

// Coverage is the share of the window with data, excluded or not.
func (c SlotCount) Coverage() float64 {
	if c.Total == 0 {
		return 0
	}
	return float64(c.Healthy+c.Unhealthy+c.Excluded) / float64(c.Total)
}

// MaskedShare is the share of the covered slots that was unhealthy.
func (c SlotCount) MaskedShare() float64 {
	if c.Healthy+c.Unhealthy == 0 {
		return 0
	}
	return float64(c.Unhealthy) / float64(c.Healthy+c.Unhealthy)
}

func newDependency(name string) *Dependency {
	none := Peak{Value: math.NaN()}
	return &Dependency{Name: name, PeakInstance: none, PeakInstanceAll: none, PeakFleet: none, PeakFleetAll: none,
		InFlight: none, InFlightAll: none, Skew: math.NaN(), Mean: math.NaN(), MeanAll: math.NaN(), Observed: math.NaN(), Rejected: math.NaN(),
		WholeCalls: math.NaN(), AttemptsPerCall: math.NaN()}
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
