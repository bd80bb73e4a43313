package promquery

import (
	"math"
	"slices"
)

// buckets are the cumulative counts of a classic histogram, by upper bound.
type buckets struct {
	bounds []float64 // ascending, in the histogram's unit; the last one may be +Inf
	counts []float64 // observations at or below the bound
}

// add sums another histogram into b, over the bounds that both have: what lies
// between two bounds of only one of them is unknown for the other's calls. One
// without a +Inf bucket says nothing and is left out.
func (b *buckets) add(other buckets) {
	if math.IsNaN(other.total()) {
		return
	}
	if len(b.bounds) == 0 {
		b.bounds, b.counts = slices.Clone(other.bounds), slices.Clone(other.counts)
		return
	}
	shared := buckets{}
	for i, bound := range b.bounds {
		if at, found := slices.BinarySearch(other.bounds, bound); found {
			shared.bounds = append(shared.bounds, bound)
			shared.counts = append(shared.counts, b.counts[i]+other.counts[at])
		}
	}
	*b = shared
}

// addBound adds a count to one bound; the first one makes the bucket.
func (b *buckets) addBound(bound, count float64) {
	at, found := slices.BinarySearch(b.bounds, bound)
	if !found {
		b.bounds = slices.Insert(b.bounds, at, bound)
		b.counts = slices.Insert(b.counts, at, 0)
	}
	b.counts[at] += count
}

// total is the number of observations, after the same repair as monotone's: the
// +Inf bucket, or the highest one where that is larger. NaN without +Inf.
func (b *buckets) total() float64 {
	if n := len(b.bounds); n > 0 && math.IsInf(b.bounds[n-1], 1) {
		return slices.Max(b.counts)
	}
	return math.NaN()
}

// dip is the deepest fall from one bound's count to a higher one's, and from
// which count; 0 for counts that are cumulative.
func (b *buckets) dip() (fall, from float64, at int) {
	highest := 0.0
	for i, c := range b.counts {
		if highest = max(highest, c); highest-c > fall {
			fall, from, at = highest-c, highest, i
		}
	}
	return fall, from, at
}

// monotone returns the counts made non-decreasing, as histogram_quantile does:
// extrapolation and mixed layouts leave small dips.
func (b *buckets) monotone() []float64 {
	counts := slices.Clone(b.counts)
	for i := 1; i < len(counts); i++ {
		counts[i] = max(counts[i], counts[i-1])
	}
	return counts
}

// Histogram is a classic histogram: Counts[i] calls took Bounds[i] seconds or
// less. The bounds ascend, the last one is +Inf and counts all.
type Histogram struct {
	Bounds, Counts []float64
}

// Quantile is a quantile read from a histogram.
type Quantile struct {
	Value     float64 // seconds, interpolated linearly as histogram_quantile does; NaN: unknown
	Low, High float64 // seconds, the bounds of the bucket that it lies in; High is +Inf when clipped
	TopBound  float64 // seconds, the highest finite bound there is
	Share     float64 // share of all calls that lie in that bucket
}

// Clipped says that the quantile lies above every finite bound: no number.
func (q Quantile) Clipped() bool { return math.IsInf(q.High, 1) }

// Resolution is the ratio of the bounds around the quantile; +Inf from zero.
func (q Quantile) Resolution() float64 { return q.High / q.Low }

// quantile reads the q-quantile, in units scaled by seconds. NaN without calls
// or without a finite bound.
func (b *buckets) quantile(q, seconds float64) Quantile {
	n := b.total()
	if math.IsNaN(n) || n <= 0 || math.IsNaN(b.topBound()) {
		return Quantile{Value: math.NaN(), Low: math.NaN(), High: math.NaN(), TopBound: math.NaN()}
	}
	counts := b.monotone()
	n = counts[len(counts)-1]
	at := max(0, slices.IndexFunc(counts, func(c float64) bool { return c >= q*n }))
	low, below := 0.0, 0.0
	if at > 0 {
		low, below = b.bounds[at-1], counts[at-1]
	}
	result := Quantile{Low: low * seconds, High: b.bounds[at] * seconds, TopBound: b.topBound() * seconds, Share: (counts[at] - below) / n}
	result.Value = interpolate(low, b.bounds[at], (q*n-below)/(counts[at]-below)) * seconds
	return result
}

func interpolate(low, high, share float64) float64 {
	if math.IsInf(high, 1) {
		return math.NaN()
	}
	return low + (high-low)*share
}

func (b *buckets) topBound() float64 {
	for i := len(b.bounds) - 1; i >= 0; i-- {
		if !math.IsInf(b.bounds[i], 1) {
			return b.bounds[i]
		}
	}
	return math.NaN()
}

// in returns the histogram in seconds, made monotone; the zero one where the
// number of calls is unknown.
func (b *buckets) in(seconds float64) Histogram {
	if math.IsNaN(b.total()) {
		return Histogram{}
	}
	h := Histogram{Bounds: slices.Clone(b.bounds), Counts: b.monotone()}
	for i := range h.Bounds {
		h.Bounds[i] *= seconds
	}
	return h
}

// meanRange is what a mean (seconds) can be: from where it would be were every
// call at its bucket's lower bound, to the same at the upper one. NaN without calls.
func (b *buckets) meanRange(seconds float64) (low, high float64) {
	below, lower := 0.0, 0.0
	for i, c := range b.monotone() {
		if in := c - below; in > 0 {
			low += in * lower
			high += in * b.bounds[i]
		}
		below, lower = c, b.bounds[i]
	}
	if below <= 0 {
		return math.NaN(), math.NaN()
	}
	const slack = 0.02 // extrapolation of increase() differs between series by about this much
	return low / below * seconds * (1 - slack), high / below * seconds * (1 + slack)
}
