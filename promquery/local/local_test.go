package local

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	"golang.org/x/sync/errgroup"

	"github.com/bhsize/bhsize/promquery"
)

const metricsDir = "../../testdata/metrics/"

var (
	dataStart = time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC)
	dataEnd   = dataStart.Add(15*time.Minute + 250*time.Millisecond)
)

func open(t *testing.T, path string) *DB {
	t.Helper()
	db, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// blockOf writes the samples of calls.om as one block in dir.
func blockOf(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(metricsDir + "calls.om")
	if err != nil {
		t.Fatal(err)
	}
	w, err := tsdb.NewBlockWriter(slog.New(slog.DiscardHandler), dir, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	app := w.AppenderV2(t.Context())
	for p := textparse.NewOpenMetricsParser(text, labels.NewSymbolTable()); ; {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if entry != textparse.EntrySeries {
			continue
		}
		var lset labels.Labels
		p.Labels(&lset)
		_, at, v := p.Series()
		if _, err := app.Append(0, lset, 0, *at, v, nil, nil, storage.AOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := app.Commit(); err != nil {
		t.Fatal(err)
	}
	id, err := w.Flush(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, id.String())
}

// The same samples must give the same answers, whatever they are stored in.
func TestSameAnswersFromTextGzipAndBlocks(t *testing.T) {
	dir := t.TempDir()
	block := blockOf(t, dir)
	want := open(t, metricsDir+"calls.om")
	r := promquery.Range{Start: dataStart, End: dataStart.Add(15 * time.Minute), Step: 15 * time.Second}
	for _, path := range []string{metricsDir + "calls.om.gz", dir, block} {
		got := open(t, path)
		for _, expr := range []string{
			`calls_total`,
			`{__name__=~"seconds_.+",instance!="b"}`,
			`max by (dependency) (sum by (dependency,instance) (rate(calls_total[1m])))`,
			`sum by (dependency,le) (increase(seconds_bucket[5m]))`,
			`histogram_quantile(0.99, sum by (le) (rate(seconds_bucket[2m])))`,
			`odd`,
			`nothing_of_that_name`,
		} {
			wantM, wantNotes, err := want.QueryRange(t.Context(), expr, r)
			if err != nil {
				t.Fatal(err)
			}
			gotM, gotNotes, err := got.QueryRange(t.Context(), expr, r)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(wantM.String(), gotM.String()); d != "" {
				t.Errorf("%s on %s: (-text +this)\n%s", expr, path, d)
			}
			if d := cmp.Diff(wantNotes, gotNotes); d != "" {
				t.Errorf("%s on %s: notes\n%s", expr, path, d)
			}
		}
		gotFirst, gotLast := got.Bounds()
		if !gotFirst.Equal(dataStart) || !gotLast.Equal(dataEnd) {
			t.Errorf("%s: bounds %s to %s, want %s to %s", path, gotFirst, gotLast, dataStart, dataEnd)
		}
	}
}

// A query window that starts inside the data must not see the chunks before it
// differently from one that starts with it.
func TestRangeInTheMiddle(t *testing.T) {
	db := open(t, metricsDir+"calls.om")
	ask := func(from time.Duration) model.Matrix {
		m, _, err := db.QueryRange(t.Context(), `sum by (instance) (rate(calls_total[1m]))`,
			promquery.Range{Start: dataStart.Add(from), End: dataStart.Add(14 * time.Minute), Step: 30 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	whole, part := ask(2*time.Minute), ask(10*time.Minute)
	if len(whole) != 2 || len(part) != 2 {
		t.Fatalf("got %d and %d series, want 2 instances", len(whole), len(part))
	}
	for i := range part {
		skip := len(whole[i].Values) - len(part[i].Values)
		if d := cmp.Diff(whole[i].Values[skip:], part[i].Values); d != "" {
			t.Error(d)
		}
	}
}

func TestQueryInstant(t *testing.T) {
	db := open(t, metricsDir+"calls.om.gz")
	vec, _, err := db.Query(t.Context(), `count by (dependency) (calls_total)`, dataStart.Add(10*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if len(vec) != 2 || vec[0].Value != 2 || vec[0].Metric["dependency"] != "payments" {
		t.Errorf("got %v, want two instances of payments and of search", vec)
	}
}

// Samples keep what makes a float special: the healthy mask depends on it.
func TestSpecialValues(t *testing.T) {
	db := open(t, metricsDir+"calls.om")
	vec, _, err := db.Query(t.Context(), `odd`, dataStart)
	if err != nil {
		t.Fatal(err)
	}
	if len(vec) != 2 || !math.IsNaN(float64(vec[0].Value)) || !math.IsInf(float64(vec[1].Value), -1) {
		t.Errorf("got %v, want NaN and -Inf", vec)
	}
	if got, want := string(vec[1].Metric["to"]), "café \"x\"\n"; got != want {
		t.Errorf("label value %q, want %q", got, want)
	}
}

func TestQueryErrors(t *testing.T) {
	db := open(t, metricsDir+"calls.om")
	for _, c := range []struct{ expr, want string }{
		{`sum by (`, "parse error"},
		{`1 + 1`, "gives a scalar"},
		{`calls_total[5m]`, "gives a matrix"},
		{`"x"`, "gives a string"},
	} {
		_, _, err := db.Query(t.Context(), c.expr, dataEnd)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.expr, err, c.want)
		}
	}
	_, _, err := db.Query(t.Context(), `sum by (`, dataEnd)
	var parse parser.ParseErrors
	if !errors.As(err, &parse) {
		t.Errorf("error %v does not wrap the parser's", err)
	}
}

func TestRangeErrors(t *testing.T) {
	db := open(t, metricsDir+"calls.om")
	for _, c := range []struct {
		r    promquery.Range
		want string
	}{
		{promquery.Range{Start: dataStart, End: dataEnd}, "step 0s is too short"},
		{promquery.Range{Start: dataEnd, End: dataStart, Step: time.Second}, "before it starts"},
		{promquery.Range{Start: dataStart, End: dataStart.Add(24 * time.Hour), Step: time.Second}, "more than 11000 steps"},
	} {
		_, _, err := db.QueryRange(t.Context(), `calls_total`, c.r)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q in it", err, c.want)
		}
	}
}

func TestCancel(t *testing.T) {
	db := open(t, metricsDir+"calls.om")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := db.Query(ctx, `calls_total`, dataEnd); err == nil || !strings.Contains(err.Error(), "cancel") {
		t.Errorf("error %v, want a cancelled query", err)
	}
}

func TestInfosAreReturned(t *testing.T) {
	db := open(t, metricsDir+"calls.om")
	_, notes, err := db.Query(t.Context(), `rate(odd[5m])`, dataEnd)
	if err != nil {
		t.Fatal(err)
	}
	_, notes2, err := db.Query(t.Context(), `histogram_quantile(0.9, calls_total)`, dataStart.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if len(notes)+len(notes2) == 0 {
		t.Error("no annotations came back")
	}
}

// Measure asks for several days at a time.
func TestConcurrentQueries(t *testing.T) {
	db := open(t, metricsDir+"calls.om")
	r := promquery.Range{Start: dataStart, End: dataEnd, Step: 15 * time.Second}
	const expr = `sum by (dependency,le) (increase({__name__=~"calls_total|seconds_bucket"}[2m]))`
	want, _, err := db.QueryRange(t.Context(), expr, r)
	if err != nil {
		t.Fatal(err)
	}
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			got, _, err := db.QueryRange(t.Context(), expr, r)
			if err == nil && got.String() != want.String() {
				err = errors.New("another answer beside other queries")
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

func TestErrorsAreSorted(t *testing.T) {
	db := open(t, metricsDir+"calls.om")
	for _, c := range []struct {
		err  error
		want promquery.Kind
	}{
		{promql.ErrTooManySamples("query execution"), promquery.TooExpensive},
		{promql.ErrQueryTimeout("query execution"), promquery.TooExpensive},
		{promql.ErrStorage{Err: errors.New("checksum mismatch")}, promquery.Unavailable},
		{parser.ParseErrors{}, promquery.BadQuery},
	} {
		var got *promquery.Error
		if err := db.fail("x", c.err); !errors.As(err, &got) || got.Kind != c.want || got.Next == "" {
			t.Errorf("%v became %+v, want kind %v and a next step", c.err, got, c.want)
		}
	}
}
