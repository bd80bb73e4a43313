package promquery_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/bhsize/bhsize/promquery"
)

// nobody fails every query: for requests that must be refused before one is sent.
type nobody struct{}

var errAsked = errors.New("a query was sent")

func (nobody) Query(context.Context, string, time.Time) (model.Vector, []string, error) {
	return nil, nil, errAsked
}

func (nobody) QueryRange(context.Context, string, promquery.Range) (model.Matrix, []string, error) {
	return nil, nil, errAsked
}

// recorder answers the queries that begin with a known text (and, after "...",
// contain another), notes all, and fails the test for an unknown one and for an answer that nobody asked for.
type recorder struct {
	t       *testing.T
	answers map[string]model.Matrix
	used    map[string]bool
	sent    []sent
}

type sent struct {
	expr string
	r    promquery.Range
}

func newRecorder(t *testing.T, answers map[string]model.Matrix) *recorder {
	r := &recorder{t: t, answers: answers, used: map[string]bool{}}
	t.Cleanup(func() {
		for known := range answers {
			if !r.used[known] {
				t.Errorf("nobody asked %s", known)
			}
		}
	})
	return r
}

func (r *recorder) Query(_ context.Context, expr string, _ time.Time) (model.Vector, []string, error) {
	r.t.Errorf("unexpected instant query %s", expr)
	return nil, nil, errAsked
}

func (r *recorder) QueryRange(_ context.Context, expr string, rng promquery.Range) (model.Matrix, []string, error) {
	r.sent = append(r.sent, sent{expr, rng})
	for known, answer := range r.answers {
		if begin, within, _ := strings.Cut(known, "..."); strings.HasPrefix(expr, begin) && strings.Contains(expr, within) {
			r.used[known] = true
			return answer, nil, nil
		}
	}
	r.t.Errorf("unexpected query %s", expr)
	return nil, nil, errAsked
}

// interval answers the probe for the scrape interval, and nothing to the rest.
// At the ends of the data an hour has fewer samples; the most are what counts.
func interval(t *testing.T, samplesAnHour float64) *recorder {
	return probed(t, samplesAnHour, math.Ceil(samplesAnHour/4))
}

const hourProbe, quarterProbe = "quantile(0.5...[1h]", "quantile(0.5...[15m]"

// probed answers both probes: samples in the fullest hour, and in 15 minutes.
func probed(t *testing.T, inHour, inQuarter float64) *recorder {
	answer := func(most float64) model.Matrix {
		one := model.SampleStream{}
		for i, share := range []float64{0.5, 1, 0.5} {
			one.Values = append(one.Values, model.SamplePair{Timestamp: model.TimeFromUnix(start.Unix() + 3600*int64(i+1)), Value: model.SampleValue(share * most)})
		}
		return model.Matrix{&one}
	}
	return newRecorder(t, map[string]model.Matrix{hourProbe: answer(inHour), quarterProbe: answer(inQuarter), "sum by": nil, "max by": nil, "count by": nil})
}

func many(n int) []promquery.Group {
	var all []promquery.Group
	for i := range n {
		all = append(all, promquery.Group{Name: fmt.Sprint("d", i), Match: map[string][]string{"peer": {fmt.Sprint("p", i), fmt.Sprint("q", i)}}})
	}
	return all
}

func TestRequestsDependOnDaysOnly(t *testing.T) {
	istio, err := promquery.LookupPreset("istio")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why    string
		series promquery.Series
		days   int
		want   int // 2 probes, and a day: 4 for slots, 4 for peaks, 1 each for errors, rejections and whole calls
	}{
		{"one day", byHand, 1, 2 + 8},
		{"two weeks", byHand, 14, 2 + 14*8},
		{"two weeks with errors and rejections", istio.Series, 14, 2 + 14*10},
		{"whole calls beside attempts", byHand.With(promquery.Series{Calls: "c", Level: promquery.LevelAttempt}), 1, 2 + 9},
	} {
		for _, groups := range []int{0, 1, 5, 500} {
			q := interval(t, 240)
			r := request(time.Duration(c.days)*24*time.Hour, many(groups)...)
			r.Series = c.series
			last, total := 0, 0
			r.Progress = func(done, of int) { last, total = done, of }
			m := measure(t, q, r)
			if len(q.sent) != c.want || m.Requests != c.want || last != c.want || total != c.want {
				t.Errorf("%s, %d groups: %d queries sent, %d counted, progress %d of %d; want %d", c.why, groups, len(q.sent), m.Requests, last, total, c.want)
			}
		}
	}
}

// Whole hours are exact; an hour that was filled in part is no longer interval.
func TestPartlyFilledHour(t *testing.T) {
	for _, c := range []struct {
		why               string
		inHour, inQuarter float64
		want              time.Duration
	}{
		{"20 minutes at 15 s", 80, 60, 15 * time.Second},
		{"40 minutes at 15 s", 160, 60, 15 * time.Second},
		{"58 minutes at 60 s", 58, 15, time.Minute},
		{"20 minutes at 5 minutes, both ends counted", 5, 4, 225 * time.Second},
		{"no hour, a quarter", 0, 30, 30 * time.Second},
		{"an hour, but the quarters are lost", 120, 0, 30 * time.Second},
		{"a full hour of 7 s", 514, 129, 7 * time.Second},
		{"a full hour of 60 s, both ends counted", 61, 16, time.Minute},
		{"a full hour of 5 minutes, both ends counted", 13, 4, 5 * time.Minute},
		{"scrapes that come early and late", 240, 61, 15 * time.Second},
	} {
		if m := measure(t, probed(t, c.inHour, c.inQuarter), request(3*time.Hour, many(1)...)); m.ScrapeInterval != c.want {
			t.Errorf("%s: %s, want %s", c.why, m.ScrapeInterval, c.want)
		}
	}
}

func TestRateWindowFollowsScrapeInterval(t *testing.T) {
	for _, c := range []struct {
		why                         string
		perHour                     float64
		interval, rateWindow, aStep time.Duration
	}{
		{"15 s: four of them are the shortest window", 240, 15 * time.Second, time.Minute, 15 * time.Second},
		{"one more sample, by where the hour starts", 241, 15 * time.Second, time.Minute, 15 * time.Second},
		{"30 s", 120, 30 * time.Second, 2 * time.Minute, 30 * time.Second},
		{"60 s", 60, time.Minute, 4 * time.Minute, time.Minute},
		{"60 s, both ends of the hour counted", 61, time.Minute, 4 * time.Minute, time.Minute},
		{"5 minutes, both ends counted", 13, 5 * time.Minute, 20 * time.Minute, 5 * time.Minute},
		{"7 s: below the shortest window", 514, 7 * time.Second, time.Minute, 15 * time.Second},
		{"17 s: does not divide a day", 211, 17 * time.Second, 68 * time.Second, 17 * time.Second},
		{"several a second", 36000, time.Second, time.Minute, 15 * time.Second},
		{"5 minutes: three in a slot", 12, 5 * time.Minute, 20 * time.Minute, 5 * time.Minute},
	} {
		q := interval(t, c.perHour)
		m := measure(t, q, request(3*24*time.Hour+75*time.Minute, many(1)...))
		if m.ScrapeInterval != c.interval || m.RateWindow != c.rateWindow || m.Step != c.aStep {
			t.Errorf("%s: interval %s, window %s, step %s; want %s, %s, %s", c.why, m.ScrapeInterval, m.RateWindow, m.Step, c.interval, c.rateWindow, c.aStep)
		}
		if last := q.sent[len(q.sent)-1]; last.r.Step != c.aStep || !strings.Contains(last.expr, "["+model.Duration(c.rateWindow).String()+"]") {
			t.Errorf("%s: last query %s at step %s", c.why, last.expr, last.r.Step)
		}
		checkChunks(t, c.why, q.sent)
	}
}

// checkChunks wants every chunk within one UTC day, on multiples of its step,
// below the points that a server returns, and each expression's chunks seamless.
func checkChunks(t *testing.T, why string, all []sent) {
	t.Helper()
	const mostPoints = 11_000
	seen := map[string]promquery.Range{}
	for i, s := range all {
		points := int(s.r.End.Sub(s.r.Start)/s.r.Step) + 1
		step := s.r.Step.Milliseconds()
		if points > mostPoints || points < 1 || s.r.Start.UnixMilli()%step != 0 || s.r.End.UnixMilli()%step != 0 {
			t.Errorf("%s: %s to %s at %s: %d points, or off the grid", why, s.r.Start, s.r.End, s.r.Step, points)
		}
		day := s.r.End.Add(-1).Truncate(24 * time.Hour)
		if i > 1 && !s.r.Start.After(day) { // the probes alone span days
			t.Errorf("%s: %s to %s spans two days", why, s.r.Start, s.r.End)
		}
		if before, ok := seen[s.expr]; ok && !before.End.Add(s.r.Step).Equal(s.r.Start) {
			t.Errorf("%s: a hole between %s and %s", why, before.End, s.r.Start)
		}
		seen[s.expr] = s.r
	}
}

func TestOddWindowsAreOnSlotBorders(t *testing.T) {
	for _, c := range []struct {
		why                          string
		from, to, wantStart, wantEnd time.Duration
	}{
		{"within one slot", time.Minute, 2 * time.Minute, 0, 15 * time.Minute},
		{"on borders", 15 * time.Minute, 30 * time.Minute, 15 * time.Minute, 30 * time.Minute},
		{"over midnight", 23*time.Hour + 50*time.Minute, 24*time.Hour + time.Nanosecond, 23*time.Hour + 45*time.Minute, 24*time.Hour + 15*time.Minute},
	} {
		q := interval(t, 240)
		r := request(0, many(1)...)
		r.Start, r.End = start.Add(c.from), start.Add(c.to)
		m := measure(t, q, r)
		if !m.Start.Equal(start.Add(c.wantStart)) || !m.End.Equal(start.Add(c.wantEnd)) {
			t.Errorf("%s: %s to %s", c.why, m.Start, m.End)
		}
		checkChunks(t, c.why, q.sent)
		q.used[hourProbe] = true // a short window may hold no whole hour
	}
}

func TestWindowsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		why      string
		from, to time.Time
		want     string
	}{
		{"empty", start, start, "empty"},
		{"backwards", start, start.Add(-time.Hour), "empty"},
		{"backwards within a slot", start.Add(2 * time.Minute), start.Add(time.Minute), "empty"},
		{"never set", time.Time{}, time.Time{}, "empty"},
		{"ten years", start.AddDate(-10, 0, 0), start, "longer than 400 days"},
		{"since the year 1", time.Time{}, start, "longer than 400 days"},
	} {
		_, err := promquery.Measure(t.Context(), nobody{}, promquery.Request{Series: byHand, Start: c.from, End: c.to})
		if err == nil || errors.Is(err, errAsked) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.why, err, c.want)
		}
	}
}

func TestTooFewScrapes(t *testing.T) {
	probe := func(x float64) map[string]model.Matrix {
		one := model.Matrix{{Values: []model.SamplePair{{Timestamp: model.TimeFromUnix(start.Unix()), Value: model.SampleValue(x)}}}}
		return map[string]model.Matrix{hourProbe: one, quarterProbe: one}
	}
	_, err := promquery.Measure(t.Context(), newRecorder(t, probe(2)), request(time.Hour, many(1)...))
	wantNoData(t, err, "at most 2 samples an hour", "scrape interval")

	answers := probe(math.NaN())
	answers["count(count_over_time(h_count["] = nil
	_, err = promquery.Measure(t.Context(), newRecorder(t, answers), request(time.Hour, many(1)...))
	wantNoData(t, err, "no metric h_count", "preset")
}

// wantNoData checks message and next step of an *Error of that kind.
func wantNoData(t *testing.T, err error, message, next string) {
	t.Helper()
	var e *promquery.Error
	if !errors.As(err, &e) {
		t.Errorf("error %v, want a *promquery.Error", err)
		return
	}
	if e.Kind != promquery.NoData || !strings.Contains(e.Message, message) || !strings.Contains(e.Next, next) || strings.Contains(e.Message, "\n") {
		t.Errorf("kind %d, message %q, next %q; want kind %d, %q, %q", e.Kind, e.Message, e.Next, promquery.NoData, message, next)
	}
}

// A query that fails ends the measurement with its own error, wherever it is.
func TestFirstFailureIsReturned(t *testing.T) {
	for n := range 10 {
		q := &failing{Querier: interval(t, 240), after: n}
		_, err := promquery.Measure(t.Context(), q, request(time.Hour, many(1)...))
		if !errors.Is(err, errAsked) {
			t.Errorf("query %d failed, error %v", n, err)
		}
		q.after = 1 << 30
		if _, err := promquery.Measure(t.Context(), q, request(time.Hour, many(1)...)); err != nil {
			t.Error(err)
		}
	}
}

type failing struct {
	promquery.Querier
	after int
}

func (f *failing) QueryRange(ctx context.Context, expr string, r promquery.Range) (model.Matrix, []string, error) {
	if f.after--; f.after < 0 {
		return nil, nil, errAsked
	}
	return f.Querier.QueryRange(ctx, expr, r)
}

func TestCancelledBetweenQueries(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	q := newRecorder(t, map[string]model.Matrix{hourProbe: {{Values: []model.SamplePair{{Value: 240}}}}})
	r := request(time.Hour, many(1)...)
	r.Progress = func(int, int) { cancel() }
	if _, err := promquery.Measure(ctx, q, r); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	if len(q.sent) != 1 {
		t.Errorf("%d queries were sent, want 1", len(q.sent))
	}
}
