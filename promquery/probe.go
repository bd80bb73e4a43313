package promquery

import (
	"fmt"
	"math"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
)

// hours are the whole hours of the window: instants at which a look back of one
// hour leaves no gap. 400 days of them are 9,600 points, below what a server
// returns at most. What the last one leaves is the quarters' to see. ok is false
// where the window has no such instant.
func (m *measuring) hours() (r Range, ok bool) {
	r = Range{floor(m.out.Start, time.Hour).Add(time.Hour), floor(m.out.End, time.Hour), time.Hour}
	return r, !r.End.Before(r.Start)
}

// quarters are the minutes around the hour that ends at t, within the window:
// wherever less than an hour of data lies there, one of the instants looks back
// on 15 minutes full of it.
func (m *measuring) quarters(t time.Time) Range {
	first, last := m.out.Start.Add(slot), m.out.End
	if t.Before(first) || t.After(last) { // the answer's times are the server's word
		t = last
	}
	if from := t.Add(-2 * time.Hour); from.After(first) {
		first = from
	}
	if to := t.Add(time.Hour); to.Before(last) {
		last = to
	}
	return Range{first, last, time.Minute}
}

// probes is the number of queries that probe sends.
func (m *measuring) probes() int {
	if _, ok := m.hours(); ok {
		return 2
	}
	return 1
}

// probe reads the scrape interval: from the most samples an hour that the median
// series ever had, and around that hour, or at the window's end, the most in 15
// minutes, since an hour may be filled in part only.
func (m *measuring) probe() error {
	inHour, at := 0.0, floor(m.out.End, time.Hour)
	if r, ok := m.hours(); ok {
		most, when, err := m.most(m.record("scrape interval", m.src.scrapes(time.Hour), r.Step), r)
		if err != nil {
			return err
		}
		if most > 0 {
			inHour, at = most, when
		}
	}
	r := m.quarters(at)
	inQuarter, _, err := m.most(m.record("scrape interval of less than an hour of data", m.src.scrapes(slot), r.Step), r)
	if err != nil {
		return err
	}
	if inHour <= 0 && inQuarter <= 0 {
		return m.nothing()
	}
	m.out.ScrapeInterval = interval(inHour, inQuarter)
	if m.out.ScrapeInterval > maxInterval {
		return &Error{NoData, fmt.Sprintf("%s has at most %.0f samples an hour: a rate over a slot of 15 minutes needs a scrape every 5 minutes or more often", m.src.counter, max(inHour, inQuarter)),
			"shorten the scrape interval, or choose a window in which it was scraped throughout", nil}
	}
	m.setWindow(m.out.ScrapeInterval)
	return nil
}

// most is the highest value of an answer, and its time.
func (m *measuring) most(expr string, r Range) (most float64, at time.Time, err error) {
	matrix, err := m.ask(expr, r)
	for _, s := range matrix {
		each(s.Values, func(t time.Time, x float64) {
			if x > most {
				most, at = x, t
			}
		})
	}
	return most, at, err
}

// maxInterval leaves three scrapes in every slot.
const maxInterval = slot / minSlotSamples

// interval is the scrape interval of a series with so many samples in its
// fullest hour, and in 15 minutes of it. The hour is the more precise reading,
// unless the quarter says that it was not full: by more than the one sample
// that a border adds, or by less but with whole seconds where the hour has none.
func interval(inHour, inQuarter float64) time.Duration {
	byHour, wholeHour := spacing(time.Hour, inHour)
	byQuarter, wholeQuarter := spacing(slot, inQuarter)
	const quarters = float64(time.Hour / slot)
	full := inHour >= quarters*(inQuarter-1)
	if inQuarter <= 0 || full && inHour > 0 && (wholeHour || !wholeQuarter) {
		return byHour
	}
	return byQuarter
}

// spacing is the time between so many samples in a range. A Prometheus before
// version 3 counts both ends of the range, so that samples on its border make
// one too many: where only that reading gives whole seconds, it is taken. exact
// says that one of them did.
func spacing(in time.Duration, samples float64) (between time.Duration, exact bool) {
	if samples <= 0 {
		return 0, false
	}
	open, closed := in.Seconds()/samples, in.Seconds()/(samples-1)
	if !whole(open) && whole(closed) {
		open = closed
	}
	return time.Duration(max(1, math.Round(open))) * time.Second, whole(open)
}

func whole(seconds float64) bool { return math.Abs(seconds-math.Round(seconds)) < 1e-9 }

func ceilDuration(d, to time.Duration) time.Duration { return (d + to - 1) / to * to }

// nothing says why there is no data: is the metric absent, or does the selector
// leave nothing of it?
func (m *measuring) nothing() error {
	const mostPoints = 9600
	name := m.src.counter.name
	step := ceilDuration(m.out.End.Sub(m.out.Start)/mostPoints, slot)
	bare := aggregate(parser.COUNT, call("count_over_time", over(selector{name: name}, step)))
	found, err := m.ask(bare.String(), Range{floor(m.out.Start, step).Add(step), floor(m.out.End, step), step})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return &Error{NoData, fmt.Sprintf("there is no metric %s from %s to %s", name, m.out.Start.Format(time.RFC3339), m.out.End.Format(time.RFC3339)),
			fmt.Sprintf("%s asks for it: check the window and prometheus.preset; `bhsize presets` lists them, prometheus.series names metrics by hand", m.asker()), nil}
	}
	return &Error{NoData, fmt.Sprintf("%s exists, but no series of it match %s", name, m.src.counter.String()),
		"check prometheus.selector and the matchers of prometheus.series", nil}
}

// asker says who chose the metric.
func (m *measuring) asker() string {
	if m.req.Preset == "" {
		return "prometheus.series"
	}
	return fmt.Sprintf("preset %q", m.req.Preset)
}
