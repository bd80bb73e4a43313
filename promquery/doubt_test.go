package promquery

import (
	"math"
	"strings"
	"testing"
)

func TestUnitContradictions(t *testing.T) {
	for _, c := range []struct {
		why, unit string
		b         buckets
		want      string // ID: text
	}{
		{"seconds as they should be", "s", hist(0.005, 1, 10, 2, inf, 2), ""},
		{"the OpenTelemetry bug: bounds for ms hold seconds", "s", hist(0, 0, 5, 1000, 10, 1000, 7500, 1000, inf, 1000), "bounds: its lowest bucket bound would be 5 s: bounds made for milliseconds"},
		{"1 % above the first bound is still it", "s", hist(5, 991, 10, 1000, inf, 1000), "bounds: "},
		{"calls all over such bounds: they are milliseconds", "s", hist(5, 500, 10, 1000, inf, 1000), "unit: its lowest bucket bound would be 5 s: is the unit ms?"},
		{"a first bound of exactly a second", "s", hist(1, 2, 10, 2, inf, 2), "bounds: "},
		{"just below a second", "s", hist(0.99, 1, 10, 2, inf, 2), ""},
		{"milliseconds called seconds", "s", hist(0.5, 1, 3_600_000, 2, inf, 2), "unit: its highest bucket bound would be 3.6e+06 s: is the unit ms?"},
		{"an hour is a long call, but one", "s", hist(0.5, 1, 3600, 2, inf, 2), ""},
		{"seconds called milliseconds", "ms", hist(0.005, 1, 10, 2, inf, 2), "unit: its highest bucket bound would be 10 ms: is the unit s?"},
		{"a top of 100 ms may be meant", "ms", hist(1, 1, 100, 2, inf, 2), ""},
		{"Istio's", "ms", hist(0.5, 1, 3_600_000, 2, inf, 2), ""},
		{"no finite bound to judge by", "s", hist(inf, 5), ""},
		{"no calls", "s", hist(5, 0, inf, 0), ""},
		{"nothing at all", "s", hist(), ""},
		{"microseconds are not judged", "us", hist(1, 1, 2, 2, inf, 2), ""},
	} {
		r, _ := c.b.doubtUnit(c.unit)
		if got := said(r); (c.want == "") != (got == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}

// said is a remark with its ID, "" for none.
func said(r *Remark) string {
	if r == nil {
		return ""
	}
	return r.ID + ": " + r.Text
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

func TestDoubt(t *testing.T) {
	good := hist(0.1, 500, 0.2, 1000, inf, 1000)
	for _, c := range []struct {
		why                  string
		b                    buckets
		mean                 float64
		doubt, contradiction string
	}{
		{"a good histogram", good, 0.1, "", ""},
		{"99 % in one bucket is not yet over it", hist(0.1, 0, 0.2, 990, 0.5, 1000, inf, 1000), 0.15, "", ""},
		{"over 99 % in the p99's bucket", hist(0.1, 0, 0.2, 991, 0.5, 1000, inf, 1000), 0.15, "one-bucket: 99.1 % of all calls lie in one bucket, 0.1 s to 0.2 s", ""},
		{"all in the first", hist(0.1, 1000, inf, 1000), 0.05, "one-bucket: 100.0 %", ""},
		{"99.5 % above the top bound is clipped, not one bucket", hist(0.1, 5, inf, 1000), 4, "", ""},
		{"so is everything", hist(0.1, 0, inf, 1000), 4, "", ""},
		{"a mean above every bound", good, 40, "", "impossible-mean: sum and buckets contradict each other: the sum, read in s, gives a mean of 40 s, the buckets allow 0.049 s to 0.153 s; read in ms the sum gives 0.04 s"},
		{"the unit that fits is named", good, 1e5, "", "read in us the sum gives 0.1 s"},
		{"an impossible mean where the p99 is clipped", hist(0.5, 0, 10, 0, inf, 1000), 4, "", "impossible-mean: "},
		{"an unknown mean is no contradiction", good, math.NaN(), "", ""},
		{"bounds that cannot be, a sum that can", hist(5, 1000, 10, 1000, inf, 1000), 0.2, "bounds: its lowest bucket bound would be 5 s", ""},
		{"a unit that cannot be", hist(100, 500, 5000, 1000, inf, 1000), 2000, "", "unit: its lowest bucket bound would be 100 s: is the unit ms? (read in s the p99 is 4902 s, in ms it is 4.902 s)"},
		{"the same, clipped: by its mean", hist(100, 500, 5000, 900, inf, 1000), 2000, "", "(read in s the mean is 2000 s, in ms it is 2 s)"},
		{"no buckets are nothing to doubt", hist(), 0.1, "", ""},
		{"only +Inf", hist(inf, 1000), 0.1, "", ""},
		{"no calls", hist(0.1, 0, inf, 0), math.NaN(), "", ""},
	} {
		d := &Dependency{Calls: 1000, Mean: c.mean, P99: c.b.quantile(0.99, 1)}
		d.doubt(&c.b, "s", 1)
		for _, r := range []struct {
			what, want string
			got        *Remark
		}{{"doubt", c.doubt, d.QuantileDoubt}, {"contradiction", c.contradiction, d.Contradiction}} {
			if got := said(r.got); (r.want == "") != (got == "") || !strings.Contains(got, r.want) {
				t.Errorf("%s: %s %q, want %q", c.why, r.what, got, r.want)
			}
		}
	}
}

// A fall that extrapolation explains is repaired, a gross one is said.
func TestFallingBuckets(t *testing.T) {
	for _, c := range []struct {
		why                  string
		b                    buckets
		sum                  float64
		doubt, contradiction string
		mean                 float64
	}{
		{"cumulative", hist(0.1, 500, 0.2, 1000, inf, 1000), 100, "", "", 0.1},
		{"1 % below is extrapolation", hist(0.1, 500, 0.2, 1000, 0.3, 990, inf, 1000), 100, "", "", 0.1},
		{"so it is in +Inf: all is divided by the repaired total", hist(0.1, 500, 0.2, 1000, inf, 990), 100, "", "", 0.1},
		{"finite bounds that differ between pods", hist(0.1, 500, 0.2, 1000, 0.3, 989, inf, 1000), 100, "not-cumulative: its buckets are not cumulative: 1000 calls took at most 0.2 s, and fewer (989) at most 0.3 s", "", 0.1},
		{"+Inf below a finite bound", hist(0.1, 500, 0.2, 1000, inf, 989), 100, "", "not-cumulative: its buckets are not cumulative: 1000 calls took at most 0.2 s, and there are fewer (989) in all", 0.1},
		{"each bucket for itself", hist(0.1, 27000, 0.2, 20000, 0.3, 100, inf, 50), 2700, "", "27000 calls took at most 0.1 s, and there are fewer (50) in all", 0.1},
		{"the deepest fall is named", hist(0.1, 500, 0.2, 450, 0.3, 600, 0.4, 100, 0.5, 1000, inf, 1000), 100, "600 calls took at most 0.3 s, and fewer (100) at most 0.4 s", "", 0.1},
		{"only +Inf", hist(inf, 1000), 100, "", "", 0.1},
		{"no calls", hist(0.1, 0, inf, 0), 0, "", "", math.NaN()},
	} {
		d := newDependency("x")
		s := seriesOf(slotData{samples: 60, calls: c.b.total(), sum: c.sum, hist: c.b})
		s.classify(interval15, unhealthy, nil, 1)
		s.fold(d, "s", 1)
		if d.Mean != c.mean && !(math.IsNaN(d.Mean) && math.IsNaN(c.mean)) {
			t.Errorf("%s: mean %v, want %v", c.why, d.Mean, c.mean)
		}
		if n := len(d.Histogram.Counts); n == 0 || d.Histogram.Counts[n-1] != d.Observed {
			t.Errorf("%s: %v observed, histogram %v", c.why, d.Observed, d.Histogram)
		}
		for _, r := range []struct {
			what, want string
			got        *Remark
		}{{"doubt", c.doubt, d.QuantileDoubt}, {"contradiction", c.contradiction, d.Contradiction}} {
			if got := said(r.got); (r.want == "") != (got == "") || !strings.Contains(got, r.want) {
				t.Errorf("%s: %s %q, want %q", c.why, r.what, got, r.want)
			}
		}
	}
}

// A preset in ms, and the sum in seconds.
func TestImpossibleMeanOfMilliseconds(t *testing.T) {
	b := hist(100, 500, 200, 1000, inf, 1000)
	d := &Dependency{Mean: 0.00012, P99: b.quantile(0.99, 1e-3)}
	d.doubt(&b, "ms", 1e-3)
	const want = "the sum, read in ms, gives a mean of 0.00012 s, the buckets allow 0.049 s to 0.153 s; read in s the sum gives 0.12 s"
	if got := said(d.Contradiction); !strings.Contains(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
