package local

import (
	"context"
	"errors"
	"slices"
	"sort"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"
)

// samplesPerChunk is Prometheus's own: short enough that a seek decodes little.
const samplesPerChunk = 120

// memory holds the series of a text file as compressed chunks. A tsdb.Head
// would do the same, but wants a directory of its own for chunks it never
// writes, and drops what is out of order instead of saying so.
type memory struct {
	series []*memSeries // sorted by labels once finished
	byName map[string][]*memSeries
	first  int64
	last   int64
}

type memSeries struct {
	lset   labels.Labels
	chunks []memChunk
	app    chunkenc.Appender // of the last chunk
	last   int64             // time of the last sample, ms
}

type memChunk struct {
	*chunkenc.XORChunk
	first, last int64 // ms, both inclusive
}

func newMemory() *memory {
	return &memory{byName: map[string][]*memSeries{}, first: noFirst, last: noLast}
}

func (m *memory) add(lset labels.Labels) *memSeries {
	s := &memSeries{lset: lset, last: noLast}
	m.series = append(m.series, s)
	return s
}

// append adds one sample. Times must rise within a series.
func (m *memory) append(s *memSeries, t int64, v float64) error {
	if t == s.last {
		return errors.New("second sample of the series at the same time: remove one of them")
	}
	if t < s.last {
		return errors.New("sample is older than the one before it in its series: sort the samples of each series by time")
	}
	if err := s.append(t, v); err != nil {
		return err
	}
	m.first, m.last = min(m.first, t), max(m.last, t)
	return nil
}

func (s *memSeries) append(t int64, v float64) error {
	n := len(s.chunks)
	if n == 0 || s.chunks[n-1].NumSamples() >= samplesPerChunk {
		if err := s.cut(t); err != nil {
			return err
		}
		n = len(s.chunks)
	}
	s.app.Append(0, t, v)
	s.chunks[n-1].last = t
	s.last = t
	return nil
}

func (s *memSeries) cut(t int64) (err error) {
	if n := len(s.chunks); n > 0 {
		s.chunks[n-1].Compact()
	}
	c := memChunk{XORChunk: chunkenc.NewXORChunk(), first: t}
	s.app, err = c.Appender()
	s.chunks = append(s.chunks, c)
	return err
}

// finish sorts the series; nothing is appended afterwards.
func (m *memory) finish() {
	slices.SortFunc(m.series, func(a, b *memSeries) int { return labels.Compare(a.lset, b.lset) })
	for _, s := range m.series {
		s.app = nil
		name := s.lset.Get(model.MetricNameLabel)
		m.byName[name] = append(m.byName[name], s)
	}
}

func (m *memory) bounds() (first, last int64) { return m.first, m.last }

func (m *memory) close() error { return nil }

// Querier implements storage.Queryable.
func (m *memory) Querier(mint, maxt int64) (storage.Querier, error) {
	return &memQuerier{m: m, mint: mint, maxt: maxt}, nil
}

type memQuerier struct {
	storage.LabelQuerier // PromQL never asks for label names; nil by intent

	m          *memory
	mint, maxt int64
}

func (*memQuerier) Close() error { return nil }

// Select implements storage.Querier. The series come sorted, whether or not
// that was asked for.
func (q *memQuerier) Select(ctx context.Context, _ bool, _ *storage.SelectHints, ms ...*labels.Matcher) storage.SeriesSet {
	var found []storage.Series
	for _, s := range q.candidates(ms) {
		if ctx.Err() != nil {
			return storage.ErrSeriesSet(ctx.Err())
		}
		if cut := s.within(q.mint, q.maxt); len(cut) > 0 && matches(s.lset, ms) {
			found = append(found, view(s.lset, cut))
		}
	}
	return &memSet{found: found, at: -1}
}

// candidates narrows the search to one metric name where the matchers fix it.
func (q *memQuerier) candidates(ms []*labels.Matcher) []*memSeries {
	for _, m := range ms {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
			return q.m.byName[m.Value]
		}
	}
	return q.m.series
}

func matches(lset labels.Labels, ms []*labels.Matcher) bool {
	for _, m := range ms {
		if !m.Matches(lset.Get(m.Name)) {
			return false
		}
	}
	return true
}

// within returns the chunks that hold samples of [mint, maxt].
func (s *memSeries) within(mint, maxt int64) []memChunk {
	from := sort.Search(len(s.chunks), func(i int) bool { return s.chunks[i].last >= mint })
	to := sort.Search(len(s.chunks), func(i int) bool { return s.chunks[i].first > maxt })
	return s.chunks[from:max(from, to)]
}

// view is a series cut to the chunks that a query may need. The engine ignores
// the samples of theirs that it did not ask for.
func view(lset labels.Labels, cut []memChunk) storage.Series {
	return &storage.SeriesEntry{Lset: lset, SampleIteratorFn: func(reuse chunkenc.Iterator) chunkenc.Iterator {
		its := make([]chunkenc.Iterator, 0, len(cut))
		for _, c := range cut {
			its = append(its, c.Iterator(nil))
		}
		return storage.ChainSampleIteratorFromIterators(reuse, its)
	}}
}

type memSet struct {
	found []storage.Series
	at    int
}

func (s *memSet) Next() bool                      { s.at++; return s.at < len(s.found) }
func (s *memSet) At() storage.Series              { return s.found[s.at] }
func (*memSet) Err() error                        { return nil }
func (*memSet) Warnings() annotations.Annotations { return nil }
