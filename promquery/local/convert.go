package local

import (
	"sort"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

// notes returns the warnings of a result, then its infos, each sorted: the
// engine keeps them in a map.
func notes(expr string, res *promql.Result) []string {
	warnings, infos := res.Warnings.AsStrings(expr, 0, 0)
	sort.Strings(warnings)
	sort.Strings(infos)
	return append(warnings, infos...)
}

func toVector(vec promql.Vector) model.Vector {
	out := make(model.Vector, 0, len(vec))
	for _, s := range vec {
		sample := &model.Sample{
			Metric:    toMetric(s.Metric),
			Timestamp: model.Time(s.T),
			Value:     model.SampleValue(s.F),
		}
		if s.H != nil {
			sample.Value = 0
			sample.Histogram = toHistogram(s.H)
		}
		out = append(out, sample)
	}
	return out
}

func toMatrix(mat promql.Matrix) model.Matrix {
	out := make(model.Matrix, 0, len(mat))
	for _, s := range mat {
		stream := &model.SampleStream{Metric: toMetric(s.Metric)}
		stream.Values = make([]model.SamplePair, 0, len(s.Floats))
		for _, p := range s.Floats {
			stream.Values = append(stream.Values, model.SamplePair{Timestamp: model.Time(p.T), Value: model.SampleValue(p.F)})
		}
		for _, p := range s.Histograms {
			stream.Histograms = append(stream.Histograms, model.SampleHistogramPair{Timestamp: model.Time(p.T), Histogram: toHistogram(p.H)})
		}
		out = append(out, stream)
	}
	return out
}

func toMetric(lset labels.Labels) model.Metric {
	m := make(model.Metric, lset.Len())
	lset.Range(func(l labels.Label) {
		m[model.LabelName(l.Name)] = model.LabelValue(l.Value)
	})
	return m
}

// toHistogram gives what the HTTP API gives: the buckets that hold something,
// in order, with the code of which of their ends is inclusive.
func toHistogram(h *histogram.FloatHistogram) *model.SampleHistogram {
	out := &model.SampleHistogram{Count: model.FloatString(h.Count), Sum: model.FloatString(h.Sum)}
	for it := h.AllBucketIterator(); it.Next(); {
		b := it.At()
		if b.Count == 0 {
			continue
		}
		out.Buckets = append(out.Buckets, &model.HistogramBucket{
			Boundaries: boundaries(b.LowerInclusive, b.UpperInclusive),
			Lower:      model.FloatString(b.Lower),
			Upper:      model.FloatString(b.Upper),
			Count:      model.FloatString(b.Count),
		})
	}
	return out
}

// boundaries is the API's code: 0 (a,b], 1 [a,b), 2 (a,b), 3 [a,b].
func boundaries(lower, upper bool) int32 {
	switch {
	case lower && upper:
		return 3
	case lower:
		return 1
	case upper:
		return 0
	}
	return 2
}
