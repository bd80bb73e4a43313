package local

import (
	"bytes"
	"math"
	"os"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"github.com/bhsize/bhsize/promquery"
)

// FuzzOpenMetrics: whatever the text, either an error or a history in which
// every series is in order, no series stands twice, the bounds hold, and the
// engine can read it.
func FuzzOpenMetrics(f *testing.F) {
	seed, err := os.ReadFile(metricsDir + "calls.om")
	if err != nil {
		f.Fatal(err)
	}
	few := bytes.LastIndexByte(seed[:400], '\n') + 1 // the fuzzer takes minutes to shrink a long seed
	f.Add(append(seed[:few:few], eofMark...))
	for _, s := range []string{"a 1 2\n# EOF\n", "# TYPE h histogram\nh_bucket{le=\"5\"} 1 1 # {a=\"b\"} 1\n# EOF", "{\"a b\",c=\"d\"} NaN 1e9\n# EOF\n", "a 1 -9e15\n# EOF\n"} {
		f.Add([]byte(s))
	}
	small := limits{bytes: 1 << 20, line: 1 << 14, samples: 10_000, series: 100, names: 1 << 16}
	f.Fuzz(func(t *testing.T, text []byte) {
		in, err := decompress(bytes.NewReader(text))
		if err != nil {
			return
		}
		m, err := readOpenMetrics(t.Context(), "fuzz", in, small)
		if err != nil {
			return
		}
		checkMemory(t, m)
		db := &DB{path: "fuzz", data: m, engine: newEngine()}
		first, _ := db.Bounds()
		if _, _, err := db.QueryRange(t.Context(), `{__name__!=""}`, promquery.Range{Start: first, End: first.Add(time.Hour), Step: time.Minute}); err != nil {
			t.Logf("query: %v", err)
		}
	})
}

func checkMemory(t *testing.T, m *memory) {
	t.Helper()
	for i, s := range m.series {
		if i > 0 && labels.Compare(m.series[i-1].lset, s.lset) >= 0 {
			t.Fatalf("series %s after %s", s.lset, m.series[i-1].lset)
		}
		last := int64(math.MinInt64)
		it := view(s.lset, s.chunks).Iterator(nil)
		for it.Next() != chunkenc.ValNone {
			if at := it.AtT(); at <= last || at < m.first || at > m.last {
				t.Fatalf("series %s: sample at %d after %d, bounds %d to %d", s.lset, at, last, m.first, m.last)
			}
			last = it.AtT()
		}
		if it.Err() != nil || last != s.last {
			t.Fatalf("series %s ends at %d (%v), want %d", s.lset, last, it.Err(), s.last)
		}
	}
}
