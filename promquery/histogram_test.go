package promquery

import (
	"math"
	"strings"
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
		{"only +Inf: not even a bound", hist(inf, 100), 1, Quantile{Value: nan, Low: 0, High: inf, TopBound: nan, Share: 1}},
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

func TestUnitContradictions(t *testing.T) {
	for _, c := range []struct {
		why, unit string
		b         buckets
		want      string
	}{
		{"seconds as they should be", "s", hist(0.005, 1, 10, 2, inf, 2), ""},
		{"the OpenTelemetry bug: bounds for ms hold seconds", "s", hist(0, 0, 5, 9, 10, 9, 7500, 9, inf, 9), "made for milliseconds"},
		{"a first bound of exactly a second", "s", hist(1, 1, 10, 2, inf, 2), "made for milliseconds"},
		{"just below a second", "s", hist(0.99, 1, 10, 2, inf, 2), ""},
		{"milliseconds called seconds", "s", hist(0.5, 1, 3_600_000, 2, inf, 2), "is the unit ms?"},
		{"an hour is a long call, but one", "s", hist(0.5, 1, 3600, 2, inf, 2), ""},
		{"seconds called milliseconds", "ms", hist(0.005, 1, 10, 2, inf, 2), "is the unit s?"},
		{"a top of 100 ms may be meant", "ms", hist(1, 1, 100, 2, inf, 2), ""},
		{"Istio's", "ms", hist(0.5, 1, 3_600_000, 2, inf, 2), ""},
		{"nothing to judge by", "s", hist(inf, 5), ""},
		{"nothing at all", "s", hist(), ""},
		{"microseconds are not judged", "us", hist(1, 1, 2, 2, inf, 2), ""},
	} {
		got := c.b.contradictsUnit(c.unit)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}

func TestMeanOutsideItsBuckets(t *testing.T) {
	b := hist(1, 50, 10, 100, inf, 100) // between 0.5 and 5.5 a call
	for _, c := range []struct {
		why  string
		b    buckets
		mean float64
		want bool
	}{
		{"in the middle", b, 3, false},
		{"every call at its lower bound", b, 0.5, false},
		{"every call at its upper bound", b, 5.5, false},
		{"below, within extrapolation", b, 0.495, false},
		{"below", b, 0.48, true},
		{"above", b, 5.7, true},
		{"seconds in a sum of milliseconds", b, 3000, true},
		{"a call above the last bound may take any time", hist(1, 50, 10, 99, inf, 100), 3000, false},
		{"but not less than that bound", hist(10, 0, inf, 100), 9, true},
		{"no calls", hist(1, 0, inf, 0), 3, false},
	} {
		if got := c.b.meanOutside(c.mean, 1); got != c.want {
			t.Errorf("%s: %v", c.why, got)
		}
	}
	ms := hist(1000, 50, 10000, 100, inf, 100)
	if ms.meanOutside(3, 1e-3) || !ms.meanOutside(3000, 1e-3) {
		t.Error("the mean is in seconds, whatever the buckets' unit")
	}
}

func TestQuantileDoubt(t *testing.T) {
	good := hist(0.1, 500, 0.2, 1000, inf, 1000)
	for _, c := range []struct {
		why  string
		b    buckets
		mean float64
		want string
	}{
		{"a good histogram", good, 0.1, ""},
		{"99 % in one bucket is not yet over it", hist(0.1, 0, 0.2, 990, 0.5, 1000, inf, 1000), 0.15, ""},
		{"over 99 % in the p99's bucket", hist(0.1, 0, 0.2, 991, 0.5, 1000, inf, 1000), 0.15, "99.1 % of all calls lie in one bucket, 0.1 s to 0.2 s"},
		{"all in the first", hist(0.1, 1000, inf, 1000), 0.05, "100.0 %"},
		{"a mean above every bound", good, 40, "a mean of 40 s is impossible"},
		{"an unknown mean is no contradiction", good, math.NaN(), ""},
		{"a unit that cannot be", hist(5, 500, 10, 1000, inf, 1000), 6, "milliseconds"},
		{"no buckets", hist(), 0.1, "no finite bucket bound"},
		{"only +Inf", hist(inf, 1000), 0.1, "no finite bucket bound"},
	} {
		d := &Dependency{Calls: 1000, Mean: c.mean, P99: c.b.quantile(0.99, 1)}
		got := ""
		if doubt := quantileDoubt(&c.b, d, "s", 1); doubt != nil {
			got = doubt.Text
		}
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
	if got := quantileDoubt(&buckets{}, &Dependency{Mean: math.NaN()}, "s", 1); got != nil {
		t.Errorf("without calls there is nothing to doubt: %v", got)
	}
}
