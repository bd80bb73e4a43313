package local

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/tombstones"

	"github.com/bhsize/bhsize/promquery"
)

// reference is a block read by package tsdb itself.
type reference struct{ *tsdb.Block }

func (r reference) Querier(mint, maxt int64) (storage.Querier, error) {
	return tsdb.NewBlockQuerier(r.Block, mint, maxt)
}

func (reference) bounds() (int64, int64) { return 0, 0 }

func (r reference) close() error { return r.Close() }

func openReference(t *testing.T, block string) *DB {
	t.Helper()
	b, err := tsdb.OpenBlock(slog.New(slog.DiscardHandler), block, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	db := &DB{path: block, data: reference{b}, engine: newEngine()}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// Every kind of matcher must select what Prometheus's own reader selects.
var selectors = []string{
	`{__name__="calls_total"}`,
	`{__name__=~"calls_total|odd"}`,
	`{__name__=~"seconds_.+",le!="0.1"}`,
	`{__name__!="odd",instance=~"a|c"}`,
	`{__name__=~".+",instance=~"a|"}`,
	`{__name__=~".+",instance=""}`,
	`{__name__=~".+",instance!=""}`,
	`{__name__=~".+",no_such_label=""}`,
	`{__name__=~".+",no_such_label!=""}`,
	`{__name__=~"CALLS_.+|(?i:ODD)"}`,
	`{__name__=~".+",dependency!~"pay.*|x"}`,
	`{dependency="nobody"}`,
	`sum by (dependency) (rate(calls_total{instance=~"a|b"}[1m]))`,
	`calls_total offset 5m`,
}

func sameAsReference(t *testing.T, block string) {
	t.Helper()
	ours, theirs := open(t, block), openReference(t, block)
	for _, expr := range selectors {
		for _, from := range []time.Duration{0, 7 * time.Minute} {
			r := promquery.Range{Start: dataStart.Add(from), End: dataEnd.Add(10 * time.Minute), Step: 15 * time.Second}
			want, _, err := theirs.QueryRange(t.Context(), expr, r)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := ours.QueryRange(t.Context(), expr, r)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want.String(), got.String()); d != "" {
				t.Errorf("%s: (-tsdb +ours)\n%s", expr, d)
			}
		}
	}
}

func TestBlockReadsLikePrometheus(t *testing.T) {
	sameAsReference(t, blockOf(t, t.TempDir()))
}

// Series deleted through the admin API stay in the chunks until compaction.
func TestDeletedSamplesStayDeleted(t *testing.T) {
	block := blockOf(t, t.TempDir())
	b, err := tsdb.OpenBlock(slog.New(slog.DiscardHandler), block, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	from := dataStart.Add(4 * time.Minute).UnixMilli()
	for _, d := range []struct {
		interval tombstones.Interval
		matcher  *labels.Matcher
	}{
		{tombstones.Interval{Mint: from, Maxt: from + 100_000}, labels.MustNewMatcher(labels.MatchEqual, "instance", "a")},
		{tombstones.Interval{Mint: from + 300_000, Maxt: from + 330_000}, labels.MustNewMatcher(labels.MatchEqual, "instance", "a")},
		{tombstones.Interval{Mint: 0, Maxt: 1 << 50}, labels.MustNewMatcher(labels.MatchEqual, "dependency", "search")},
	} {
		if err := b.Delete(t.Context(), d.interval.Mint, d.interval.Maxt, d.matcher); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	sameAsReference(t, block)
	vec, _, err := open(t, block).Query(t.Context(), `count(calls_total{dependency="search"})`, dataStart.Add(time.Minute))
	if err != nil || len(vec) != 0 {
		t.Errorf("deleted series are seen: %v, %v", vec, err)
	}
}

// Native histograms come out as the HTTP API shows them: buckets and not floats.
func TestNativeHistograms(t *testing.T) {
	dir := t.TempDir()
	w, err := tsdb.NewBlockWriter(slog.New(slog.DiscardHandler), dir, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	app := w.AppenderV2(t.Context())
	for i := range 20 {
		n := uint64(i + 1)
		h := &histogram.Histogram{
			Schema: 0, Count: 4 * n, Sum: float64(6 * n), ZeroThreshold: 0.001, ZeroCount: n,
			PositiveSpans: []histogram.Span{{Offset: 0, Length: 2}}, PositiveBuckets: []int64{int64(n), int64(n)},
		}
		if _, err := app.Append(0, labels.FromStrings("__name__", "native"), 0, dataStart.UnixMilli()+int64(i)*15_000, 0, h, nil, storage.AOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := app.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	db := open(t, dir)
	m, _, err := db.QueryRange(t.Context(), `native`, promquery.Range{Start: dataStart, End: dataStart.Add(time.Minute), Step: 15 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if len(m) != 1 || len(m[0].Histograms) != 5 || len(m[0].Values) != 0 {
		t.Fatalf("got %v, want five histograms", m)
	}
	h := m[0].Histograms[1].Histogram
	if h.Count != 8 || h.Sum != 12 || len(h.Buckets) != 3 {
		t.Fatalf("got %v, want 8 in three buckets", h)
	}
	if b := h.Buckets[2]; b.Lower != 1 || b.Upper != 2 || b.Count != 4 || b.Boundaries != 0 {
		t.Errorf("last bucket %v, want (1,2]:4", b)
	}
	vec, _, err := db.Query(t.Context(), `sum(increase(native[2m]))`, dataStart.Add(3*time.Minute))
	if err != nil || len(vec) != 1 || vec[0].Histogram == nil {
		t.Errorf("increase is %v (%v), want a histogram", vec, err)
	}
}
