package promquery_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bhsize/bhsize/promquery"
	"github.com/bhsize/bhsize/promquery/local"
)

// start is the first instant of every history that is written here.
var start = time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC)

// rate is a number of calls a second at a time since start.
type rate func(since time.Duration) float64

func steady(perSecond float64) rate { return func(time.Duration) float64 { return perSecond } }

// during is extra within [from, to) and base otherwise.
func during(from, to time.Duration, extra, base float64) rate {
	return func(since time.Duration) float64 {
		if since >= from && since < to {
			return extra
		}
		return base
	}
}

// counter is one series: name{labels}, and how fast it grows. A rate of NaN is
// a scrape without the series.
type counter struct {
	series string
	rate   rate
}

// histogram is the series of a classic histogram in which every call lies in
// the bucket that ends at bound, and takes mean.
func histogram(name, labels string, calls rate, bounds []float64, bound, mean float64) []counter {
	scaled := func(by float64) rate { return func(s time.Duration) float64 { return by * calls(s) } }
	all := []counter{{name + "_count{" + labels + "}", calls}, {name + "_sum{" + labels + "}", scaled(mean)}}
	for _, b := range append(bounds, math.Inf(1)) {
		in := 0.0
		if b >= bound {
			in = 1
		}
		all = append(all, counter{fmt.Sprintf("%s_bucket{%s,le=%q}", name, labels, le(b)), scaled(in)})
	}
	return all
}

func le(b float64) string {
	if math.IsInf(b, 1) {
		return "+Inf"
	}
	return fmt.Sprint(b)
}

// scraped writes what a scrape of the counters every interval over length sees,
// and opens it.
func scraped(t *testing.T, interval, length time.Duration, counters ...counter) *local.DB {
	t.Helper()
	var b bytes.Buffer
	for _, c := range counters {
		value := 0.0
		for at := time.Duration(0); at <= length; at += interval {
			if r := c.rate(at); !math.IsNaN(r) {
				value += r * interval.Seconds()
				fmt.Fprintf(&b, "%s %v %d.%03d\n", c.series, value, start.Add(at).Unix(), start.Add(at).UnixMilli()%1000)
			}
		}
	}
	b.WriteString("# EOF\n")
	return openText(t, b.Bytes())
}

func openText(t *testing.T, text []byte) *local.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history.om")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return openPath(t, path)
}

func openPath(t *testing.T, path string) *local.DB {
	t.Helper()
	db, err := local.Open(t.Context(), path)
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

// byHand are the names of the histories that are written here.
var byHand = promquery.Series{Histogram: "h", Unit: "s", Dependency: []string{"peer"}, Instance: []string{"pod"},
	Level: promquery.LevelCall, Ends: promquery.EndsComplete}

var usual = promquery.Unhealthy{Errors: 0.05, P99Factor: 4}

func request(length time.Duration, groups ...promquery.Group) promquery.Request {
	return promquery.Request{Series: byHand, Groups: groups, Start: start, End: start.Add(length), Unhealthy: usual}
}

func named(names ...string) []promquery.Group {
	var all []promquery.Group
	for _, n := range names {
		all = append(all, promquery.Group{Name: n})
	}
	return all
}

func measure(t *testing.T, q promquery.Querier, r promquery.Request) *promquery.Measurement {
	t.Helper()
	m, err := promquery.Measure(t.Context(), q, r)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// near fails unless got is within a share of want.
func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if !(math.Abs(got-want) <= share*math.Abs(want)) {
		t.Errorf("%s is %v, want %v within %v %%", what, got, want, share*100)
	}
}
