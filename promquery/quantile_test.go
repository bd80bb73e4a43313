package promquery_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/bhsize/bhsize/promquery"
)

// The p99 must be the one that a colleague sees in Prometheus: the same
// buckets, random and sometimes not monotone, through histogram_quantile.
func TestQuantileIsPrometheuss(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	type histogram struct{ bounds, counts []float64 }
	var all []histogram
	var text bytes.Buffer
	for i := range 300 {
		h := histogram{}
		bound, count := 0.0, 0.0
		for range 1 + random.IntN(12) {
			bound += random.ExpFloat64()
			count += math.Floor(random.ExpFloat64()*100) * float64(random.IntN(3))
			h.bounds, h.counts = append(h.bounds, bound), append(h.counts, count)
		}
		h.bounds, h.counts = append(h.bounds, math.Inf(1)), append(h.counts, count+float64(random.IntN(3)))
		if dip := random.IntN(len(h.counts)); i%3 == 0 {
			h.counts[dip] *= random.Float64()
		}
		for k, b := range h.bounds {
			fmt.Fprintf(&text, "h_bucket{i=\"%d\",le=%q} %v %d\n", i, strconv.FormatFloat(b, 'g', -1, 64), h.counts[k], start.Unix())
		}
		all = append(all, h)
	}
	db := openText(t, append(text.Bytes(), "# EOF\n"...))
	for _, q := range []float64{0.5, 0.99, 0.999} {
		theirs, _, err := db.Query(t.Context(), fmt.Sprintf("histogram_quantile(%v, h_bucket)", q), start)
		if err != nil {
			t.Fatal(err)
		}
		compared, clipped := 0, 0
		for _, s := range theirs {
			i, err := strconv.Atoi(string(s.Metric["i"]))
			if err != nil {
				t.Fatal(err)
			}
			ours, want := promquery.QuantileOf(all[i].bounds, all[i].counts, q, 1), float64(s.Value)
			switch {
			case math.IsNaN(want) && math.IsNaN(ours.Value):
			case ours.Clipped():
				clipped++
				if want != ours.TopBound {
					t.Errorf("%v: clipped at %v, Prometheus says %v", all[i], ours.TopBound, want)
				}
			case !(math.Abs(ours.Value-want) <= 1e-9) || ours.Value < ours.Low || ours.Value > ours.High || !slices.Contains(all[i].bounds, ours.High):
				t.Errorf("%v: %+v, Prometheus says %v", all[i], ours, want)
			default:
				compared++
			}
		}
		if compared < 100 || clipped < 5 && q > 0.9 {
			t.Errorf("q %v: only %d values and %d clipped ones were compared", q, compared, clipped)
		}
	}
}
