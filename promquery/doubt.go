package promquery

import (
	"fmt"
	"math"
	"slices"
)

// uninformative is the share of calls in one bucket above which the quantile
// only reflects that bucket's bounds.
const uninformative = 0.99

// grossDip is the share of all calls by which a bucket may be below a lower one:
// extrapolation differs between series by less.
const grossDip = 0.01

// doubt finds what is wrong with the healthy histogram b: what makes its
// quantile meaningless, and what makes any number of it meaningless.
func (d *Dependency) doubt(b *buckets, unit string, seconds float64) {
	wrong, other := b.doubtUnit(unit)
	dip, total := b.doubtOrder(seconds)
	switch {
	case dip != nil && total:
		d.Contradiction = dip
	case wrong != nil && wrong.ID == RemarkUnit:
		what, value := "p99", d.P99.Value
		if math.IsNaN(value) {
			what, value = "mean", d.Mean
		}
		wrong.Text += fmt.Sprintf(" (read in %s the %s is %s s, in %s it is %s s)", unit, what, number(value), other, number(value/seconds*unitSeconds[other]))
		d.Contradiction = wrong
	case dip == nil && b.meanOutside(d.Mean, seconds): // buckets that fall say nothing against a mean
		d.Contradiction = b.impossibleMean(d.Mean, unit, seconds)
	case d.P99.Clipped():
	case wrong != nil:
		d.QuantileDoubt = wrong
	case dip != nil:
		d.QuantileDoubt = dip
	case d.P99.Share > uninformative:
		d.QuantileDoubt = &Remark{RemarkOneBucket, fmt.Sprintf("%.1f %% of all calls lie in one bucket, %s s to %s s",
			100*d.P99.Share, number(d.P99.Low), number(d.P99.High))}
	}
}

// doubtOrder says where the counts fall grossly, nil when they do not. Pods with
// different bounds make finite buckets fall, and only the quantile with them;
// where +Inf falls, the number of calls itself is unknown.
func (b *buckets) doubtOrder(seconds float64) (r *Remark, total bool) {
	n := b.total()
	if math.IsNaN(n) {
		return nil, false
	}
	last := len(b.counts) - 1
	fall, from, at := b.dip()
	if total = n-b.counts[last] > grossDip*n; total {
		fall, from, at = n-b.counts[last], n, last
	}
	if !(fall > grossDip*n) {
		return nil, false
	}
	fewer := fmt.Sprintf("fewer (%s) at most %s s", number(b.counts[at]), number(b.bounds[at]*seconds))
	if at == last {
		fewer = fmt.Sprintf("there are fewer (%s) in all", number(b.counts[at]))
	}
	return &Remark{RemarkOrder, fmt.Sprintf("its buckets are not cumulative: %s calls took at most %s s, and %s",
		number(from), number(b.bounds[slices.Index(b.counts, from)]*seconds), fewer)}, total
}

// Bounds that a unit makes absurd: nobody has a first bucket at a second, or a
// last one above an hour; nor a last one below a tenth of a second in ms.
const (
	absurdFirstSeconds = 1.0
	absurdTopSeconds   = 3600.0
	absurdTopMillis    = 100.0
)

// doubtUnit says why the bounds cannot be in the unit named, nil when they can.
// RemarkBounds: an SDK puts seconds into bounds made for milliseconds, so that
// all calls lie below the first one; the sum is right. RemarkUnit: the unit
// itself may be wrong, and then the sum is too; other is what it may be.
func (b *buckets) doubtUnit(unit string) (r *Remark, other string) {
	first := slices.IndexFunc(b.bounds, func(x float64) bool { return x > 0 })
	top := b.topBound()
	switch {
	case first < 0 || math.IsNaN(top) || !(b.total() > 0):
		return nil, ""
	case unit == "s" && b.bounds[first] >= absurdFirstSeconds && b.counts[first] > uninformative*b.total():
		return &Remark{RemarkBounds, "its lowest bucket bound would be " + number(b.bounds[first]) + " s: bounds made for milliseconds hold seconds"}, ""
	case unit == "s" && b.bounds[first] >= absurdFirstSeconds:
		return &Remark{RemarkUnit, "its lowest bucket bound would be " + number(b.bounds[first]) + " s: is the unit ms?"}, "ms"
	case unit == "s" && top > absurdTopSeconds:
		return &Remark{RemarkUnit, "its highest bucket bound would be " + number(top) + " s: is the unit ms?"}, "ms"
	case unit == "ms" && top < absurdTopMillis:
		return &Remark{RemarkUnit, "its highest bucket bound would be " + number(top) + " ms: is the unit s?"}, "s"
	}
	return nil, ""
}

// meanOutside says whether a mean (seconds) is impossible for these buckets:
// then sum and buckets are not of one unit or population.
func (b *buckets) meanOutside(mean, seconds float64) bool {
	low, high := b.meanRange(seconds)
	return mean < low || mean > high
}

// impossibleMean names the mean as it is read, and as it would be in the unit
// that its buckets allow.
func (b *buckets) impossibleMean(mean float64, unit string, seconds float64) *Remark {
	low, high := b.meanRange(seconds)
	read := func(other string) float64 { return mean / seconds * unitSeconds[other] }
	other := "ms"
	if unit == other {
		other = "s"
	}
	for _, u := range []string{"ns", "us", "ms", "s"} {
		if x := read(u); u != unit && x >= low && x <= high {
			other = u
		}
	}
	return &Remark{RemarkMean, fmt.Sprintf("sum and buckets contradict each other: the sum, read in %s, gives a mean of %s s, the buckets allow %s s to %s s; read in %s the sum gives %s s",
		unit, number(mean), number(low), number(high), other, number(read(other)))}
}
