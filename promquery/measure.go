package promquery

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
)

// day is the length of a chunk: query frontends split and cache by UTC days,
// and a chunk stays below the 11,000 points that a server returns at most.
const day = 24 * time.Hour

// minRateWindow is the shortest window that rates are taken over.
const minRateWindow = time.Minute

// Measure asks q everything about r. The number of queries depends on the
// length of the window only. The error is that of the first query that failed,
// or of the request itself; a group without data is no error here (see
// Dependency.Slots), since one bad dependency must not hide the others.
func Measure(ctx context.Context, q Querier, r Request) (*Measurement, error) {
	if err := checkWindow(r.Start, r.End); err != nil {
		return nil, err
	}
	src, err := newSource(r.Series, r.Selector, r.Groups)
	if err != nil {
		return nil, err
	}
	m := &measuring{ctx: ctx, q: q, req: r, src: src, out: &Measurement{
		Preset: r.Preset, Series: r.Series, Selector: r.Selector, UnitStated: r.UnitStated,
		Start: r.Start.UTC().Truncate(slot), End: CeilSlot(r.End),
		Dependencies: map[string]*Dependency{},
	}}
	return m.run()
}

// maxWindow bounds the number of requests: ten a day. No store keeps more of
// what this needs at the resolution that it needs.
const maxWindow = 400 * day

func checkWindow(start, end time.Time) error {
	between := fmt.Sprintf("it starts at %s and ends at %s", start.UTC().Format(time.RFC3339), end.UTC().Format(time.RFC3339))
	switch {
	case !end.After(start):
		return fmt.Errorf("the window is empty: %s", between)
	case end.Sub(start) > maxWindow:
		return fmt.Errorf("the window is longer than %d days: %s; choose a shorter one, such as 14d", maxWindow/day, between)
	}
	return nil
}

// CeilSlot is the end of the slot that t lies in, in UTC.
func CeilSlot(t time.Time) time.Time {
	t = t.UTC()
	if down := t.Truncate(slot); !down.Equal(t) {
		return down.Add(slot)
	}
	return t
}

// measuring is the state of one Measure.
type measuring struct {
	ctx   context.Context
	q     Querier
	req   Request
	src   *source
	out   *Measurement
	slots map[string]*series
	total int
	known map[string]bool // keys without a group, as people see them
	notes notes           // of the server
}

func (m *measuring) run() (*Measurement, error) {
	m.slots, m.known = map[string]*series{}, map[string]bool{}
	m.plan()
	if w, ok := m.q.(Warner); ok {
		m.out.Warnings = append(m.out.Warnings, w.Warnings()...)
	}
	if err := m.probe(); err != nil {
		return nil, err
	}
	if err := m.readSlots(); err != nil {
		return nil, err
	}
	m.digest()
	m.widen()
	if err := m.readPeaks(); err != nil {
		return nil, err
	}
	m.finish()
	return m.out, nil
}

// finish lists what was gathered on the way.
func (m *measuring) finish() {
	m.out.Unmatched = slices.Sorted(maps.Keys(m.known))
	m.out.Warnings = append(m.out.Warnings, m.notes.texts()...)
	m.out.Incomplete = m.notes.warnings()
}

// unmatched notes a key that no group names.
func (m *measuring) unmatched(key string) {
	if len(m.known) < MaxSeries {
		m.known[clip(key)] = true
	}
}

// plan counts the queries ahead, for the progress display.
func (m *measuring) plan() {
	perDay := len(m.slotQueries()) + len(m.peakQueries())
	m.total = m.probes() + perDay*len(chunks(m.out.Start, m.out.End, slot))
}

// slotQuery is one expression at a step of one slot, and where its values go.
type slotQuery struct {
	purpose, expr string
	store         func(*slotData, model.Metric, float64)
}

func (m *measuring) slotQueries() []slotQuery {
	s := m.src
	all := []slotQuery{
		{"scrapes in every slot", s.slotSamples(), func(d *slotData, _ model.Metric, x float64) { d.samples = x }},
		{"calls in every slot", s.slotCalls(), func(d *slotData, _ model.Metric, x float64) { d.calls = x }},
		{"seconds of calls in every slot (in the histogram's unit)", s.slotSum(), func(d *slotData, _ model.Metric, x float64) { d.sum = x * s.seconds }},
		{"buckets in every slot: p99 and its bounds", s.slotBuckets(), storeBucket},
	}
	if len(s.errors) > 0 {
		all = append(all, slotQuery{"errors in every slot", s.slotErrors(), func(d *slotData, _ model.Metric, x float64) { d.errors = x }})
	}
	if s.rejected != nil {
		all = append(all, slotQuery{"rejections by the service's own limit", s.slotRejected(), func(d *slotData, _ model.Metric, x float64) { d.rejected = x }})
	}
	if s.whole != nil {
		all = append(all, slotQuery{"whole calls in every slot", s.slotWhole(), func(d *slotData, _ model.Metric, x float64) { d.whole = x }})
	}
	return all
}

// storeBucket parses le as a number: Prometheus 3 writes "1.0" where 2 wrote "1".
func storeBucket(d *slotData, labels model.Metric, x float64) {
	if bound, err := strconv.ParseFloat(string(labels[model.BucketLabel]), 64); err == nil && !math.IsNaN(bound) {
		d.hist.addBound(bound, x)
	}
}

func (m *measuring) readSlots() error {
	for _, query := range m.slotQueries() {
		rec := m.record(query.purpose, query.expr, slot)
		for _, r := range chunks(m.out.Start, m.out.End, slot) {
			matrix, err := m.ask(rec, r)
			if err != nil {
				return err
			}
			if err := m.storeSlots(query, matrix); err != nil {
				return err
			}
		}
	}
	return nil
}

// storeSlots stores the values at the ends of slots. What lies between them was
// not asked for, and would be added to a slot that has its value.
func (m *measuring) storeSlots(query slotQuery, matrix model.Matrix) error {
	seen := onceEach{}
	for _, stream := range matrix {
		name, found := m.src.key.group(stream.Metric)
		if !found {
			m.unmatched(name)
			continue
		}
		if err := seen.add(name, stream.Metric); err != nil {
			return err
		}
		s := m.slots[name]
		if s == nil {
			s = newSeries(m.out.Start, m.out.End)
			m.slots[name] = s
		}
		each(stream.Values, func(t time.Time, x float64) {
			if d := s.at(t); d != nil && t.Sub(s.start)%slot == 0 {
				query.store(d, stream.Metric, x)
			}
		})
	}
	return nil
}

// onceEach are the groups, and their bounds, that one answer has: a second
// series of one would be added to the first, or take its place.
type onceEach map[string]map[model.LabelValue]bool

// maxBounds is the highest number of buckets of one group, six times that of
// the finest histograms there are.
const maxBounds = 1000

func (o onceEach) add(group string, m model.Metric) error {
	bounds, bound := o[group], m[model.BucketLabel]
	switch {
	case bounds == nil:
		bounds = map[model.LabelValue]bool{}
		o[group] = bounds
	case bounds[bound]:
		return malformed("the server", fmt.Sprintf("has a series of %q twice, the second time as %s", clip(group), labelText(m)))
	case len(bounds) >= maxBounds:
		return tooLarge("the server", fmt.Sprintf("has more than %d buckets of %q", maxBounds, clip(group)))
	}
	bounds[bound] = true
	return nil
}

// digest classifies the slots and reads p99, mean and calls.
func (m *measuring) digest() {
	for _, g := range m.req.Groups {
		d := newDependency(g.Name)
		d.Match = m.src.key.describe(g)
		m.out.Dependencies[g.Name] = d
		s := m.slots[g.Name]
		if s == nil {
			d.Slots = newSeries(m.out.Start, m.out.End).count()
			continue
		}
		if m.src.rejected != nil {
			d.Rejected = s.settleRejected(m.src.separate)
		}
		s.classify(m.out.ScrapeInterval, m.req.Unhealthy, m.req.Exclude, m.src.seconds)
		s.fold(d, m.src.Unit, m.src.seconds)
		m.seeData(s)
	}
}

// settleRejected totals the rejections. Where they are counted by a metric of
// their own, they are among the errors too, and are taken out there.
func (s *series) settleRejected(separate bool) float64 {
	total := 0.0
	for i := range s.slots {
		d := &s.slots[i]
		total += d.rejected
		if separate {
			d.errors = max(0, d.errors-d.rejected)
		}
	}
	return total
}

func (m *measuring) seeData(s *series) {
	for i := range s.slots {
		if s.slots[i].state == slotMissing {
			continue
		}
		from := s.start.Add(time.Duration(i) * slot)
		if m.out.DataStart.IsZero() || from.Before(m.out.DataStart) {
			m.out.DataStart = from
		}
		return
	}
}

// peakQuery is one expression at the fine step, and where its values go.
type peakQuery struct {
	purpose, expr string
	store         func(*stepValues) *[]model.SamplePair
}

func (m *measuring) peakQueries() []peakQuery {
	s, w := m.src, m.out.RateWindow
	return []peakQuery{
		{"rate of the busiest instance", s.peakInstance(w), func(v *stepValues) *[]model.SamplePair { return &v.instance }},
		{"rate of the fleet", s.peakFleet(w), func(v *stepValues) *[]model.SamplePair { return &v.fleet }},
		{"active instances", s.activeInstances(w), func(v *stepValues) *[]model.SamplePair { return &v.active }},
		{"mean calls in flight of the busiest instance (in the histogram's unit)", s.inFlight(w), func(v *stepValues) *[]model.SamplePair { return &v.inFlight }},
	}
}

func (m *measuring) readPeaks() error {
	folds := map[string]*peakFold{}
	for name, s := range m.slots {
		folds[name] = newPeakFold(m.out.Dependencies[name], s, m.out.RateWindow)
	}
	queries := m.peakQueries()
	for _, query := range queries {
		m.record(query.purpose, query.expr, m.out.Step)
	}
	for _, r := range chunks(m.out.Start, m.out.End, m.out.Step) {
		if err := m.readPeakChunk(queries, r, folds); err != nil {
			return err
		}
	}
	for _, f := range folds {
		f.finish()
	}
	return nil
}

func (m *measuring) readPeakChunk(queries []peakQuery, r Range, folds map[string]*peakFold) error {
	values := map[string]*stepValues{}
	for _, query := range queries {
		matrix, err := m.ask(query.expr, r)
		if err != nil {
			return err
		}
		seen := onceEach{}
		for _, stream := range matrix {
			name, found := m.src.key.group(stream.Metric)
			if !found || folds[name] == nil {
				continue
			}
			if err := seen.add(name, stream.Metric); err != nil {
				return err
			}
			if values[name] == nil {
				values[name] = &stepValues{}
			}
			*query.store(values[name]) = stream.Values
		}
	}
	for name, v := range values {
		folds[name].fold(*v, m.src.seconds)
	}
	return nil
}

// chunks cuts (start, end] into UTC days; the evaluation times are the
// multiples of step in it.
func chunks(start, end time.Time, step time.Duration) []Range {
	var all []Range
	for from := start; from.Before(end); {
		to := from.Truncate(day).Add(day)
		if to.After(end) {
			to = end
		}
		first, last := floor(from, step).Add(step), floor(to, step)
		if !last.Before(first) {
			all = append(all, Range{first, last, step})
		}
		from = to
	}
	return all
}

// floor is the last multiple of step since 1970 at or before t: the grid that
// query frontends cache by. Time.Truncate counts from the year 1.
func floor(t time.Time, step time.Duration) time.Time {
	ms := step.Milliseconds()
	return time.UnixMilli(t.UnixMilli() / ms * ms).UTC()
}

// record notes an expression for the derivation, and returns it.
func (m *measuring) record(purpose, expr string, step time.Duration) string {
	m.out.Queries = append(m.out.Queries, Query{purpose, expr, step})
	return expr
}

func (m *measuring) ask(expr string, r Range) (model.Matrix, error) {
	if err := m.ctx.Err(); err != nil {
		return nil, err
	}
	matrix, warnings, err := m.q.QueryRange(m.ctx, expr, r)
	if err != nil {
		return nil, err
	}
	m.out.Requests++
	m.notes.add(warnings)
	if m.req.Progress != nil {
		m.req.Progress(m.out.Requests, m.total)
	}
	return matrix, nil
}

// warn says something about the whole measurement.
func (m *measuring) warn(text string) { m.out.Warnings = append(m.out.Warnings, text) }
