package synth

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// History is what Prometheus scraped.
type History struct {
	config *Config
	pairs  []*pair
}

// Series is one scraped series. Once begun (see Config.FromStart) it stays, at
// zero after a restart.
type Series struct {
	Labels labels.Labels
	Family string // name in TYPE lines: the counter's without _total, the histogram's
	part   part
	pair   *pair
	how    outcome
}

// part is which number of a bin a series shows.
type part int

const (
	partCalls part = -2 // the counter, or the histogram's count
	partSum   part = -1
	// 0 and above: the cumulative bucket of that index
)

// Series returns all series that have samples: the counter's first, then the
// histogram's, each sorted by labels. That is the order of an exposition.
func (h *History) Series() []Series {
	counters := h.collect(func(p *pair, o outcome) []Series { return p.counter(o) })
	histograms := h.collect(func(p *pair, o outcome) []Series { return p.histogram(o) })
	return append(counters, histograms...)
}

func (h *History) collect(of func(*pair, outcome) []Series) []Series {
	var out []Series
	for _, p := range h.pairs {
		for o := range p.scraped {
			if p.first(outcome(o)) < len(p.scraped[o]) {
				out = append(out, of(p, outcome(o))...)
			}
		}
	}
	slices.SortFunc(out, func(a, b Series) int { return labels.Compare(a.Labels, b.Labels) })
	return out
}

// first is the scrape with which the series of an outcome begin; those of an
// outcome that never occurred have none.
func (p *pair) first(o outcome) int {
	k := slices.IndexFunc(p.scraped[o], func(b bin) bool { return b.calls > 0 })
	switch {
	case k < 0:
		return len(p.scraped[o])
	case p.config.FromStart:
		return 0
	}
	return k
}

func (p *pair) counter(o outcome) []Series {
	name := p.config.Naming.Counter
	if name == "" {
		return nil
	}
	return []Series{p.series(o, partCalls, strings.TrimSuffix(name, "_total"), name)}
}

func (p *pair) histogram(o outcome) []Series {
	name := p.config.Naming.Histogram
	if name == "" {
		return nil
	}
	out := []Series{p.series(o, partCalls, name, name+"_count"), p.series(o, partSum, name, name+"_sum")}
	for k, le := range p.config.Naming.les() {
		out = append(out, p.series(o, part(k), name, name+"_bucket", Label{labels.BucketLabel, le}))
	}
	return out
}

func (p *pair) series(o outcome, which part, family, name string, more ...Label) Series {
	n := &p.config.Naming
	b := labels.NewBuilder(labels.EmptyLabels())
	b.Set(model.MetricNameLabel, name)
	b.Set(n.Dependency, p.dependency.Label)
	b.Set(n.Instance, p.instance.Name)
	for _, l := range slices.Concat(n.Fixed, n.ending(o), more) {
		b.Set(l.Name, l.Value)
	}
	return Series{Labels: b.Labels(), Family: family, part: which, pair: p, how: o}
}

// ending returns the labels of an outcome.
func (n *Naming) ending(o outcome) []Label {
	switch o {
	case failed:
		return n.Failed
	case timedOut:
		return n.TimedOut
	}
	return n.Answered
}

// les are the le values as Prometheus 3 stores them and OpenMetrics wants them: 5.0, not 5.
func (n *Naming) les() []string {
	var out []string
	for _, b := range n.Bounds {
		le := strconv.FormatFloat(b, 'g', -1, 64)
		if !strings.ContainsAny(le, ".e") {
			le += ".0"
		}
		out = append(out, le)
	}
	return append(out, "+Inf")
}

// Samples yields the samples in order: milliseconds since 1970, and the value.
func (s Series) Samples() iter.Seq2[int64, float64] {
	return func(yield func(int64, float64) bool) {
		value, bins := 0.0, s.pair.scraped[s.how]
		for k := s.pair.first(s.how); k < len(bins); k++ {
			if s.pair.restarted(k) {
				value = 0
			}
			value += s.part.of(&bins[k])
			at := s.pair.scrapeTime(k)
			if !s.pair.config.missed(at) && !yield(at.UnixMilli(), value) {
				return
			}
		}
	}
}

func (w part) of(b *bin) float64 {
	switch w {
	case partCalls:
		return float64(b.calls)
	case partSum:
		return b.sum
	}
	n := uint32(0)
	for _, c := range b.buckets[:w+1] {
		n += c
	}
	return float64(n)
}

func (p *pair) scrapeTime(k int) time.Time {
	return p.config.Start.Add(p.instance.Offset + time.Duration(k)*p.config.Scrape)
}

// restarted says whether the process began anew since the scrape before k.
func (p *pair) restarted(k int) bool {
	return slices.ContainsFunc(p.restarts, func(r float64) bool { return p.bin(r) == k })
}

// missed says whether the scrape at t falls into a gap.
func (c *Config) missed(t time.Time) bool {
	return slices.ContainsFunc(c.Gaps, func(w Window) bool { return w.holds(t) })
}
