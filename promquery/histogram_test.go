package promquery

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/common/model"
)

var inf = math.Inf(1)

// hist is a histogram from bound, count, bound, count...
func hist(pairs ...float64) buckets {
	b := buckets{}
	for i := 0; i < len(pairs); i += 2 {
		b.addBound(pairs[i], pairs[i+1])
	}
	return b
}

func TestQuantile(t *testing.T) {
	nan := math.NaN()
	none := Quantile{Value: nan, Low: nan, High: nan, TopBound: nan}
	for _, c := range []struct {
		why     string
		b       buckets
		seconds float64
		want    Quantile
	}{
		{"no buckets", hist(), 1, none},
		{"no calls", hist(1, 0, inf, 0), 1, none},
		{"no +Inf bucket: the total is unknown", hist(1, 10, 2, 20), 1, none},
		{"the lowest bucket starts at zero", hist(1, 100, inf, 100), 1, Quantile{Value: 0.99, Low: 0, High: 1, TopBound: 1, Share: 1}},
		{"in milliseconds", hist(10, 0, 20, 100, inf, 100), 1e-3, Quantile{Value: 0.0199, Low: 0.01, High: 0.02, TopBound: 0.02, Share: 1}},
		{"exactly the last call of a bucket belongs to it", hist(1, 99, 2, 100, inf, 100), 1, Quantile{Value: 1, Low: 0, High: 1, TopBound: 2, Share: 0.99}},
		{"one call more is the next bucket's", hist(1, 98, 2, 100, inf, 100), 1, Quantile{Value: 1.5, Low: 1, High: 2, TopBound: 2, Share: 0.02}},
		{"empty buckets are stepped over", hist(1, 50, 2, 50, 3, 50, 4, 100, inf, 100), 1, Quantile{Value: 3.98, Low: 3, High: 4, TopBound: 4, Share: 0.5}},
		{"above every finite bound: no value", hist(1, 50, 10, 98, inf, 100), 1, Quantile{Value: nan, Low: 10, High: inf, TopBound: 10, Share: 0.02}},
		{"only +Inf: not clipped, there is nothing to clip", hist(inf, 100), 1, none},
		{"a dip is filled from below", hist(1, 90, 2, 80, 3, 100, inf, 100), 1, Quantile{Value: 2.9, Low: 2, High: 3, TopBound: 3, Share: 0.1}},
		{"+Inf below a finite bucket, by extrapolation", hist(1, 100, inf, 99.5), 1, Quantile{Value: 0.99, Low: 0, High: 1, TopBound: 1, Share: 1}},
	} {
		got := c.b.quantile(0.99, c.seconds)
		if d := cmp.Diff(c.want, got, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-12, 0)); d != "" {
			t.Errorf("%s (-want +got)\n%s", c.why, d)
		}
		if got.Clipped() != math.IsInf(c.want.High, 1) {
			t.Errorf("%s: clipped is %v", c.why, got.Clipped())
		}
	}
}

func TestAdd(t *testing.T) {
	for _, c := range []struct {
		why  string
		all  []buckets
		want buckets
	}{
		{"equal layouts", []buckets{hist(1, 1, 2, 2, inf, 3), hist(1, 10, 2, 20, inf, 30)}, hist(1, 11, 2, 22, inf, 33)},
		{"nothing adds nothing", []buckets{hist(), hist(1, 1, inf, 1), hist()}, hist(1, 1, inf, 1)},
		{"mixed layouts keep what both know", []buckets{hist(1, 5, 5, 8, 10, 9, inf, 10), hist(2, 50, 5, 70, inf, 100)}, hist(5, 78, inf, 110)},
		{"nothing in common but the total", []buckets{hist(1, 5, inf, 10), hist(2, 50, inf, 100)}, hist(inf, 110)},
		{"half an answer is left out", []buckets{hist(1, 5, inf, 10), hist(1, 50)}, hist(1, 5, inf, 10)},
		{"half an answer first, too", []buckets{hist(1, 50), hist(1, 5, inf, 10)}, hist(1, 5, inf, 10)},
	} {
		var sum buckets
		for _, b := range c.all {
			sum.add(b)
		}
		if d := cmp.Diff(c.want, sum, cmp.AllowUnexported(buckets{}), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-want +got)\n%s", c.why, d)
		}
	}
}

// A sum must not share memory with what was added: slots are read again.
func TestAddLeavesItsArgument(t *testing.T) {
	slot, sum := hist(1, 1, inf, 1), buckets{}
	sum.add(slot)
	sum.add(slot)
	if d := cmp.Diff(hist(1, 1, inf, 1), slot, cmp.AllowUnexported(buckets{})); d != "" {
		t.Errorf("the slot changed (-want +got)\n%s", d)
	}
}

// A range over the upgrade to Prometheus 3 has le="1" and le="1.0".
func TestBucketsAreKeptByValue(t *testing.T) {
	d := &slotData{}
	for _, c := range []struct {
		le    string
		count float64
	}{{"+Inf", 7}, {"1", 2}, {"1.0", 3}, {"1e0", 1}, {"NaN", 100}, {"", 100}, {"low", 100}} {
		storeBucket(d, model.Metric{"le": model.LabelValue(c.le)}, c.count)
	}
	if diff := cmp.Diff(hist(1, 6, inf, 7), d.hist, cmp.AllowUnexported(buckets{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// What other packages read is in seconds, cumulative, and no view into a slot.
func TestHistogramInSeconds(t *testing.T) {
	b := hist(100, 50, 200, 49, inf, 60)
	h := b.in(1e-3)
	want := Histogram{Bounds: []float64{0.1, 0.2, inf}, Counts: []float64{50, 50, 60}}
	if d := cmp.Diff(want, h, cmpopts.EquateApprox(1e-12, 0)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	h.Counts[0], h.Bounds[0] = 7, 7
	if d := cmp.Diff(hist(100, 50, 200, 49, inf, 60), b, cmp.AllowUnexported(buckets{})); d != "" {
		t.Errorf("the source changed (-want +got)\n%s", d)
	}
	for _, none := range []buckets{hist(), hist(1, 5)} {
		if h := none.in(1); h.Bounds != nil || h.Counts != nil {
			t.Errorf("%v: %v, want nothing where the number of calls is unknown", none, h)
		}
	}
}
