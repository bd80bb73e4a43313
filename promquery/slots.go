package promquery

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Thresholds of the healthy mask. A handful of calls is no evidence.
const (
	minCallsForErrors = 20
	minCallsForP99    = 100
	minSlotCoverage   = 0.5
)

// slotData is what one group did in one slot.
type slotData struct {
	samples  float64 // scrapes seen, of the best covered series
	expected float64 // scrapes that a whole slot has
	calls    float64 // served calls
	errors   float64
	rejected float64
	whole    float64 // calls, where the others are attempts; 0: none or unknown
	sum      float64 // seconds
	hist     buckets
	state    slotState
	reason   string
}

type slotState int

const (
	slotMissing slotState = iota
	slotHealthy
	slotUnhealthy
	slotExcluded // by the user
)

// masked: there is data, and it does not count.
func (s slotState) masked() bool { return s == slotUnhealthy || s == slotExcluded }

// series is everything slot-wise about one group, in order of time.
type series struct {
	start time.Time // of the first slot
	slots []slotData
}

func newSeries(start, end time.Time) *series {
	s := &series{start: start, slots: make([]slotData, int(end.Sub(start)/slot))}
	for i := range s.slots {
		s.slots[i].sum = math.NaN() // not seen is not 0
	}
	return s
}

// from is the start of slot i.
func (s *series) from(i int) time.Time { return s.start.Add(time.Duration(i) * slot) }

// at returns the slot that an increase evaluated at t covers, nil outside.
func (s *series) at(t time.Time) *slotData {
	i := int(t.Sub(s.start)/slot) - 1
	if i < 0 || i >= len(s.slots) {
		return nil
	}
	return &s.slots[i]
}

// classify decides for every slot whether it is missing, excluded, healthy or
// not. interval is the usual scrape interval, for a group too short to have its own.
func (s *series) classify(interval time.Duration, u Unhealthy, exclude []Excluded, seconds float64) {
	s.expect(interval)
	for i := range s.slots {
		d := &s.slots[i]
		if d.samples < minSlotCoverage*d.expected || d.expected < minSlotSamples {
			continue
		}
		d.state = slotHealthy
		if d.reason = s.excluded(i, exclude); d.reason != "" {
			d.state = slotExcluded
		}
	}
	median := s.medianP99(seconds)
	for i := range s.slots {
		d := &s.slots[i]
		if d.state != slotHealthy {
			continue
		}
		if d.reason = d.unhealthyReason(u, median, seconds); d.reason != "" {
			d.state = slotUnhealthy
		}
	}
}

// medianP99 is the median slot's p99 in seconds, of the slots with enough calls.
func (s *series) medianP99(seconds float64) float64 {
	var all []float64
	for i := range s.slots {
		d := &s.slots[i]
		if p99 := d.p99(seconds); d.state == slotHealthy && d.hist.total() >= minCallsForP99 && !math.IsNaN(p99) {
			all = append(all, p99)
		}
	}
	if len(all) == 0 {
		return math.NaN()
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}

// p99 of a slot; a clipped one counts as infinitely slow.
func (d *slotData) p99(seconds float64) float64 {
	q := d.hist.quantile(0.99, seconds)
	if q.Clipped() {
		return math.Inf(1)
	}
	return q.Value
}

// excluded is the reason for which slot i does not count, "" where it does.
func (s *series) excluded(i int, exclude []Excluded) string {
	from := s.from(i)
	for _, e := range exclude {
		if e.From.Before(from.Add(slot)) && e.To.After(from) {
			return "excluded: " + orUnsaid(e.Reason)
		}
	}
	return ""
}

func (d *slotData) unhealthyReason(u Unhealthy, median, seconds float64) string {
	all := max(d.calls, d.errors)
	if all >= minCallsForErrors && d.errors > u.Errors*all {
		return fmt.Sprintf("error ratio above %s %%", number(u.Errors*100))
	}
	if d.hist.total() >= minCallsForP99 && d.p99(seconds) > u.P99Factor*median {
		return fmt.Sprintf("p99 above %s times the median slot's", number(u.P99Factor))
	}
	return ""
}

func orUnsaid(reason string) string {
	if reason == "" {
		return "no reason given"
	}
	return reason
}

// masked returns the unhealthy and the excluded slots, neighbours of one reason merged.
func (s *series) masked() []Excluded {
	var out []Excluded
	for i := range s.slots {
		d := &s.slots[i]
		if !d.state.masked() {
			continue
		}
		from := s.from(i)
		if n := len(out); n > 0 && out[n-1].To.Equal(from) && out[n-1].Reason == d.reason {
			out[n-1].To = from.Add(slot)
			continue
		}
		out = append(out, Excluded{from, from.Add(slot), d.reason})
	}
	return out
}

func (s *series) count() SlotCount {
	c := SlotCount{Total: len(s.slots)}
	for i := range s.slots {
		switch s.slots[i].state {
		case slotHealthy:
			c.Healthy++
		case slotUnhealthy:
			c.Unhealthy++
		case slotExcluded:
			c.Excluded++
		case slotMissing:
			c.Missing++
			if s.slots[i].samples > 0 {
				c.Sparse++
			}
		}
	}
	return c
}

// healthyAt says whether a step at t counts: its slot is healthy, and no masked
// slot is within margin, since calls that started there end here and
// the rate window reaches back.
func (s *series) healthyAt(t time.Time, margin time.Duration) bool {
	at := s.holding(t)
	if at == nil || at.state != slotHealthy {
		return false
	}
	for edge := -margin; edge < margin+slot; edge += slot {
		near := s.holding(t.Add(min(edge, margin)))
		if near != nil && near.state.masked() {
			return false
		}
	}
	return true
}

// holding returns the slot that t lies in; its end is part of a slot, its start
// is not. nil outside.
func (s *series) holding(t time.Time) *slotData { return s.at(t.Add(slot - time.Nanosecond)) }

// meanOf adds up durations and the calls that they belong to. One NaN among the
// observations of a process makes its sum NaN until it restarts: such slots, and
// those without a sum, take no part, instead of counting as calls of no length.
type meanOf struct{ sum, calls float64 }

func (m *meanOf) add(d *slotData) {
	if n := observations(&d.hist, d.calls); !math.IsNaN(d.sum) && n > 0 {
		m.sum, m.calls = m.sum+d.sum, m.calls+n
	}
}

// value is the mean; NaN where less than half of all calls have a sum.
func (m *meanOf) value(all float64) float64 {
	if m.calls < all/2 {
		return math.NaN()
	}
	return ratio(m.sum, m.calls)
}

// fold sums the slots into d.
func (s *series) fold(d *Dependency, unit string, seconds float64) {
	var healthy, all buckets
	var mean, meanAll meanOf
	for i := range s.slots {
		at := &s.slots[i]
		if at.state == slotMissing {
			continue
		}
		all.add(at.hist)
		meanAll.add(at)
		d.CallsAll += at.calls
		if at.state == slotHealthy {
			healthy.add(at.hist)
			mean.add(at)
			d.Calls += at.calls
			d.SlotRates = append(d.SlotRates, at.calls/slot.Seconds())
		}
	}
	d.Slots, d.Masked = s.count(), s.masked()
	d.P99, d.P99All = healthy.quantile(0.99, seconds), all.quantile(0.99, seconds)
	d.Mean, d.MeanAll = mean.value(observations(&healthy, d.Calls)), meanAll.value(observations(&all, d.CallsAll))
	d.Observed, d.Histogram = healthy.total(), healthy.in(seconds)
	d.doubt(&healthy, unit, seconds)
	d.WholeCalls, d.AttemptsPerCall = s.attempts()
}

// attempts compares attempts and whole calls over the healthy slots that have
// both: a counter that was added later must not read as retries before.
func (s *series) attempts() (whole, perCall float64) {
	attempts := 0.0
	for i := range s.slots {
		if d := &s.slots[i]; d.state == slotHealthy && d.whole > 0 && d.calls > 0 {
			whole, attempts = whole+d.whole, attempts+d.calls
		}
	}
	if whole == 0 {
		return math.NaN(), math.NaN()
	}
	switch perCall = attempts / whole; {
	case perCall >= 1:
		return whole, perCall
	case perCall >= 1-fewerAttempts:
		return whole, 1
	}
	return whole, math.NaN()
}

// fewerAttempts is the share by which there may be fewer attempts than calls, as
// extrapolation differs between series. More of it, and they do not belong together.
const fewerAttempts = 0.02

// observations are what a sum of durations is divided by: the histogram's own
// count, or the calls where it has no buckets.
func observations(b *buckets, calls float64) float64 {
	if n := b.total(); !math.IsNaN(n) {
		return n
	}
	return calls
}

func ratio(a, b float64) float64 {
	if b > 0 {
		return a / b
	}
	return math.NaN()
}
