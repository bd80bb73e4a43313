package promquery

import (
	"math"
	"testing"
	"time"
)

// TestMeanLeavesOutWhatHasNoSum: a sum that is NaN or absent is unknown, not 0.
func TestMeanLeavesOutWhatHasNoSum(t *testing.T) {
	hist := buckets{bounds: []float64{0.05, math.Inf(1)}, counts: []float64{100, 100}}
	for _, c := range []struct {
		why  string
		sums []float64 // seconds of 100 calls in every slot
		want float64
	}{
		{"all known", []float64{1, 2, 3, 2}, 0.02},
		{"a third unknown", []float64{1, math.NaN(), 3}, 0.02},
		{"none known", []float64{math.NaN(), math.NaN()}, math.NaN()},
		{"most unknown", []float64{1, math.NaN(), math.NaN()}, math.NaN()},
		{"calls of no length are calls", []float64{0, 0}, 0},
	} {
		s := newSeries(time.Unix(0, 0), time.Unix(0, 0).Add(time.Duration(len(c.sums))*slot))
		for i, sum := range c.sums {
			s.slots[i].hist, s.slots[i].calls, s.slots[i].sum, s.slots[i].state = hist, 100, sum, slotHealthy
		}
		d := newDependency("x")
		s.fold(d, "s", 1)
		if d.Mean != c.want && !(math.IsNaN(d.Mean) && math.IsNaN(c.want)) {
			t.Errorf("%s: mean %v, want %v", c.why, d.Mean, c.want)
		}
	}
}

// TestServerWarningsAreADoubt: what a server warns of makes every number of low
// confidence; its infos do not.
func TestServerWarningsAreADoubt(t *testing.T) {
	for _, c := range []struct {
		text   string
		doubts int
	}{
		{"store gateway-1 unreachable: partial response", 1},
		{"PromQL info: metric might not be a counter", 0},
	} {
		var n notes
		n.add([]string{c.text})
		m := &Measurement{Incomplete: n.warnings()}
		d := newDependency("x")
		d.Calls, d.Observed, d.Slots = 1e6, 1e6, SlotCount{Total: 1000, Healthy: 1000}
		d.P99 = Quantile{Value: 2, Low: 1, High: 2}
		if got := m.doubts(d); len(got) != c.doubts || c.doubts == 1 && got[0].ID != RemarkIncomplete {
			t.Errorf("%q: doubts %v, want %d", c.text, got, c.doubts)
		}
	}
}
