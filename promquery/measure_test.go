package promquery_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/common/model"

	"github.com/bhsize/bhsize/promquery"
)

// byCode is byHand with errors by code and rejections by flag.
var byCode = byHand.With(promquery.Series{Errors: []string{`code=~"5..",flag!="early"`, `code="0"`}, Rejected: `flag="overflow"`})

// calls are the histogram series of one pod and one code.
func calls(peer, pod, code, flag string, r rate) []counter {
	return histogram("h", `peer="`+peer+`",pod="`+pod+`",code="`+code+`",flag="`+flag+`"`, r, []float64{0.1, 0.2, 1}, 0.2, 0.15)
}

const (
	hour   = time.Hour
	minute = time.Minute
)

func TestErrorsMaskRejectionsDoNot(t *testing.T) {
	trouble := func(extra float64) rate { return during(2*hour, 2*hour+10*minute, extra, 0) }
	for _, c := range []struct {
		why      string
		more     []counter
		masked   int // slots
		rejected float64
		peak     float64 // healthy, per instance
	}{
		{"nothing", nil, 0, 0, 10},
		{"errors mask, and their traffic is no peak", calls("a", "1", "503", "", trouble(20)), 1, 0, 10},
		{"an error by the other selector", calls("a", "1", "0", "", trouble(20)), 1, 0, 10},
		{"an error by neither", calls("a", "1", "404", "", trouble(20)), 0, 0, 30},
		{"rejections are no errors though their code is one, and no traffic", calls("a", "1", "503", "overflow", trouble(20)), 0, 20 * 600, 10},
		{"few errors", calls("a", "1", "503", "", trouble(0.4)), 0, 0, 10.4},
	} {
		db := scraped(t, 15*time.Second, 4*hour, append(calls("a", "1", "200", "", steady(10)), c.more...)...)
		r := request(4*hour, named("a")...)
		r.Series = byCode
		d := measure(t, db, r).Dependencies["a"]
		if d.Slots.Unhealthy != c.masked || d.Slots.Missing != 0 {
			t.Errorf("%s: slots %+v, want %d unhealthy", c.why, d.Slots, c.masked)
		}
		near(t, c.why+": peak", d.PeakInstance.Value, c.peak, 1e-6)
		if math.Abs(d.Rejected-c.rejected) > 0.02*c.rejected {
			t.Errorf("%s: %v rejected, want %v", c.why, d.Rejected, c.rejected)
		}
	}
}

// In the form of a metric of its own, as Envoy's overflow counter.
func TestSeparateRejections(t *testing.T) {
	series := byHand.With(promquery.Series{Errors: []string{`errors{class="5"}`}, Rejected: `overflow`})
	storm := during(2*hour, 2*hour+10*minute, 20, 0)
	for _, c := range []struct {
		why      string
		overflow rate
		masked   int
	}{
		{"all errors are rejections", storm, 0},
		{"none is", steady(0), 1},
	} {
		db := scraped(t, 15*time.Second, 4*hour, append(calls("a", "1", "200", "", steady(10)),
			counter{`errors{peer="a",pod="1",class="5"}`, storm}, counter{`overflow{peer="a",pod="1"}`, c.overflow})...)
		r := request(4*hour, named("a")...)
		r.Series = series
		if d := measure(t, db, r).Dependencies["a"]; d.Slots.Unhealthy != c.masked {
			t.Errorf("%s: slots %+v, want %d unhealthy", c.why, d.Slots, c.masked)
		}
	}
}

// Two metrics of errors with the same labels are two kinds of error.
func TestErrorsOfTwoMetricsAdd(t *testing.T) {
	series := byHand.With(promquery.Series{Errors: []string{`refused`, `timeouts`}})
	each := during(2*hour, 2*hour+15*minute, 0.35, 0) // 3.5 % each, 7 % together
	db := scraped(t, 15*time.Second, 4*hour, append(calls("a", "1", "200", "", steady(10)),
		counter{`refused{peer="a",pod="1"}`, each}, counter{`timeouts{peer="a",pod="1"}`, each})...)
	r := request(4*hour, named("a")...)
	r.Series = series
	if d := measure(t, db, r).Dependencies["a"]; d.Slots.Unhealthy != 1 {
		t.Errorf("slots %+v, want 1 unhealthy", d.Slots)
	}
}

// Attempts and whole calls, each by its own metric or one as part of the other.
func TestAttemptsPerCallAreMeasured(t *testing.T) {
	retried := func(s time.Duration) float64 { return 2 + math.Sin(s.Hours()) }
	storm := during(2*hour, 2*hour+10*minute, 200, 0) // masked: its retries are none of healthy weather
	db := scraped(t, 15*time.Second, 4*hour, slices.Concat(
		calls("a", "1", "200", "first", steady(10)), calls("a", "1", "200", "again", retried), calls("a", "1", "503", "again", storm),
		[]counter{{`whole{peer="a",pod="1"}`, steady(10)}, {`whole{peer="a",pod="1",side="server"}`, steady(1000)}, {`whole{peer="b",pod="1"}`, steady(7)}})...)
	for _, c := range []struct {
		why, calls string
		level      promquery.Level
		want       float64
	}{
		{"a metric of its own", `whole{side=""}`, promquery.LevelAttempt, 1.2 + 0.1*(1-math.Cos(4))/4},
		{"a part of the counter", `flag="first"`, promquery.LevelAttempt, 1.2 + 0.1*(1-math.Cos(4))/4},
		{"unknown", "", promquery.LevelAttempt, math.NaN()},
		{"a metric that does not exist", "nothing", promquery.LevelAttempt, math.NaN()},
		{"calls of others", "whole", promquery.LevelAttempt, math.NaN()},
		{"calls are no attempts", `whole{side=""}`, promquery.LevelCall, math.NaN()},
	} {
		r := request(4*hour, named("a")...)
		r.Series = byCode.With(promquery.Series{Calls: c.calls, Level: c.level})
		m := measure(t, db, r)
		got := m.Dependencies["a"].AttemptsPerCall
		if math.IsNaN(c.want) != math.IsNaN(got) || math.Abs(got-c.want) > 0.01*c.want {
			t.Errorf("%s: %v attempts per call, want %v", c.why, got, c.want)
		}
		asked := slices.ContainsFunc(m.Queries, func(q promquery.Query) bool { return strings.Contains(q.Purpose, "whole calls") })
		if want := c.level == promquery.LevelAttempt && c.calls != ""; asked != want {
			t.Errorf("%s: whole calls were asked for: %v", c.why, asked)
		}
	}
}

// What is said about a dependency without series, without traffic, or without
// enough of either stands beside the good ones' numbers.
func TestBadOnesBesideGoodOnes(t *testing.T) {
	db := scraped(t, 30*time.Second, 4*hour, slices.Concat(
		calls("good", "1", "200", "", steady(10)), calls("good", "2", "200", "", steady(8)),
		calls("idle", "1", "200", "", steady(0)),
		calls("rare", "1", "200", "", steady(0.01)),
		calls("late", "1", "200", "", during(0, 3*hour, math.NaN(), 10)),
		calls("gappy", "1", "200", "", func(s time.Duration) float64 {
			if s%(15*minute) >= minute {
				return math.NaN()
			}
			return 10
		}),
		calls("unnamed", "1", "200", "", steady(1)),
	)...)
	m := measure(t, db, request(4*hour, named("good", "absent", "idle", "rare", "late", "gappy")...))
	for name, want := range map[string]string{"good": "", "absent": "no series", "idle": "no traffic", "rare": "healthy calls", "late": "", "gappy": "3 scrapes and half"} {
		v := m.Judge(m.Dependencies[name])
		if (want == "") != (v.Failure == "") || !strings.Contains(v.Failure, want) {
			t.Errorf("%s: failure %q, want %q", name, v.Failure, want)
		}
	}
	good := m.Dependencies["good"]
	near(t, "peak", good.PeakInstance.Value, 10, 1e-6)
	near(t, "fleet", good.PeakFleet.Value, 18, 1e-6)
	near(t, "skew", good.Skew, 10/9.0, 1e-6)
	near(t, "in flight", good.InFlight.Value, 1.5, 1e-6)
	near(t, "mean", good.Mean, 0.15, 1e-6)
	near(t, "calls", good.Calls, 18*4*3600, 0.01)
	if good.InstancesAtPeak != 2 || good.P99.Low != 0.1 || good.P99.High != 0.2 {
		t.Errorf("%d instances, p99 %+v", good.InstancesAtPeak, good.P99)
	}
	if late := m.Dependencies["late"]; late.Slots.Missing != 12 || late.Slots.Unhealthy != 0 {
		t.Errorf("what begins late has slots %+v, want 12 missing", late.Slots)
	}
	if d := cmp.Diff([]string{"unnamed"}, m.Unmatched); d != "" {
		t.Errorf("unmatched (-want +got)\n%s", d)
	}
}

// The window may begin before the data; the data's start is stated.
func TestWindowLongerThanTheData(t *testing.T) {
	db := scraped(t, 15*time.Second, 2*hour, calls("a", "1", "200", "", steady(10))...)
	r := request(2*hour, named("a")...)
	r.Start = start.Add(-48 * hour)
	m := measure(t, db, r)
	d := m.Dependencies["a"]
	if !m.DataStart.Equal(start) || d.Slots.Total != 200 || d.Slots.Healthy != 8 || m.ScrapeInterval != 15*time.Second {
		t.Errorf("data from %s, slots %+v, interval %s", m.DataStart, d.Slots, m.ScrapeInterval)
	}
	near(t, "peak", d.PeakInstance.Value, 10, 1e-6)
	if v := m.Judge(d); !slices.ContainsFunc(v.Doubts, func(r promquery.Remark) bool { return r.ID == promquery.RemarkCoverage }) {
		t.Errorf("doubts %q", v.Doubts)
	}
}

func TestNothingThere(t *testing.T) {
	db := scraped(t, 15*time.Second, 2*hour, calls("a", "1", "200", "", steady(10))...)
	for _, c := range []struct {
		why           string
		change        func(*promquery.Request)
		message, next string
	}{
		{"no such metric", func(r *promquery.Request) { r.Series.Histogram = "other" }, "there is no metric other_count", "prometheus.preset"},
		{"a selector that fits nothing", func(r *promquery.Request) { r.Selector = `job="nope"` }, `h_count exists, but no series of it match h_count{job="nope"}`, "prometheus.selector"},
		{"a window in the future", func(r *promquery.Request) { r.Start, r.End = r.Start.AddDate(1, 0, 0), r.End.AddDate(1, 0, 0) }, "there is no metric h_count from 2027-11-10", "the window"},
		{"a window before the data", func(r *promquery.Request) { r.Start, r.End = r.Start.Add(-48*hour), r.Start.Add(-24*hour) }, "there is no metric", "the window"},
	} {
		r := request(2*hour, named("a")...)
		c.change(&r)
		_, err := promquery.Measure(t.Context(), db, r)
		t.Run(c.why, func(t *testing.T) { wantNoData(t, err, c.message, c.next) })
	}
}

// A metric that ended hours ago is no absent metric: only its labels differ.
func TestSelectorMissesWhatEndedEarly(t *testing.T) {
	db := scraped(t, 15*time.Second, 2*hour, calls("a", "1", "200", "", steady(10))...)
	r := request(12*hour, named("a")...)
	r.Selector = `job="nope"`
	_, err := promquery.Measure(t.Context(), db, r)
	wantNoData(t, err, "h_count exists", "prometheus.selector")
}

// Zero groups: what there is comes back as unmatched.
func TestNoGroups(t *testing.T) {
	db := scraped(t, 15*time.Second, hour, slices.Concat(calls("b", "1", "200", "", steady(1)), calls("a", "1", "200", "", steady(1)))...)
	m := measure(t, db, request(hour))
	if d := cmp.Diff([]string{"a", "b"}, m.Unmatched); d != "" || len(m.Dependencies) != 0 {
		t.Errorf("dependencies %v, unmatched (-want +got)\n%s", m.Dependencies, d)
	}
}

// The same ten hours, within one UTC day and over midnight, measure the same.
func TestChunkBordersDoNotShow(t *testing.T) {
	measured := func(begin time.Duration) *promquery.Dependency {
		shifted := func(r rate) rate {
			return func(s time.Duration) float64 {
				if s < begin {
					return math.NaN()
				}
				return r(s - begin)
			}
		}
		wave := shifted(func(s time.Duration) float64 { return 10 + 5*math.Sin(s.Hours()) })
		storm := shifted(during(5*hour, 5*hour+20*minute, 7, 0))
		db := scraped(t, 15*time.Second, begin+10*hour, slices.Concat(calls("a", "1", "200", "", wave),
			calls("a", "2", "200", "", shifted(steady(9))), calls("a", "2", "500", "", storm))...)
		r := request(0, named("a")...)
		r.Series, r.Start, r.End = byCode, start.Add(begin), start.Add(begin+10*hour)
		d := measure(t, db, r).Dependencies["a"]
		for _, at := range []*time.Time{&d.PeakInstance.At, &d.PeakInstanceAll.At, &d.PeakFleet.At, &d.PeakFleetAll.At, &d.InFlight.At, &d.InFlightAll.At, &d.Masked[0].From, &d.Masked[0].To} {
			*at = at.Add(-begin)
		}
		return d
	}
	if d := cmp.Diff(measured(2*hour), measured(20*hour), cmpopts.EquateApprox(1e-9, 0), cmpopts.EquateNaNs()); d != "" {
		t.Errorf("-within a day, +over midnight\n%s", d)
	}
}

// probing lets the probes through, and answers nothing else.
type probing struct{ promquery.Querier }

func (p probing) QueryRange(ctx context.Context, expr string, r promquery.Range) (model.Matrix, []string, error) {
	if !strings.HasPrefix(expr, "quantile") {
		return nil, nil, nil
	}
	return p.Querier.QueryRange(ctx, expr, r)
}

// Wherever in two weeks there is data, however little, it is found, and its
// interval is read right.
func TestShortHistoryIsFoundAnywhere(t *testing.T) {
	const window = 14 * 24 * hour
	for _, c := range []struct {
		length, every time.Duration
		offsets       time.Duration // between those tried
	}{
		{20 * minute, 15 * time.Second, 15 * minute},
		{40 * minute, 15 * time.Second, 15 * minute},
		{20 * minute, time.Minute, 15 * minute},
		{hour, 15 * time.Second, hour},
		{2 * hour, 30 * time.Second, hour},
		{5 * hour, 5 * minute, hour},
	} {
		db := scraped(t, c.every, c.length, calls("a", "1", "200", "", steady(10))...)
		for before := time.Duration(0); before <= window-c.length; before += c.offsets {
			r := request(0, named("a")...)
			r.Start, r.End = start.Add(-before), start.Add(window-before)
			m, err := promquery.Measure(t.Context(), probing{db}, r)
			if err != nil || m.ScrapeInterval != c.every {
				t.Fatalf("%s at %s, %s after the window's start: %+v, error %v", c.length, c.every, before, m, err)
			}
		}
	}
}

// A young history is all there is to go by.
func TestYoungHistory(t *testing.T) {
	for _, length := range []time.Duration{20 * minute, 40 * minute} {
		for _, begin := range []time.Duration{0, 5 * minute, 50 * minute} {
			young := during(0, begin, math.NaN(), 10)
			db := scraped(t, 15*time.Second, begin+length, calls("a", "1", "200", "", young)...)
			r := request(0, named("a")...)
			r.End = promquery.CeilSlot(start.Add(begin + length))
			r.Start = r.End.Add(-14 * 24 * hour)
			m := measure(t, db, r)
			if d := m.Dependencies["a"]; m.ScrapeInterval != 15*time.Second || d.Slots.Healthy < 1 {
				t.Errorf("%s from %s: interval %s, slots %+v", length, begin, m.ScrapeInterval, d.Slots)
			}
		}
	}
}

// One dependency scraped at 60 s beside others at 15 s is measured whole, and
// the window of the rates is long enough for it.
func TestScrapeIntervalsOfTheirOwn(t *testing.T) {
	every := func(d time.Duration, r rate) rate {
		return func(s time.Duration) float64 {
			if s%d != 0 {
				return math.NaN()
			}
			return r(s) * float64(d/(15*time.Second))
		}
	}
	changed := func(s time.Duration) float64 {
		if s < 24*hour {
			return every(minute, steady(10))(s)
		}
		return 10
	}
	for _, c := range []struct {
		why          string
		odd          rate
		window       time.Duration
		warning      string
		leastHealthy int // of 192 slots
	}{
		{"scraped like the others", steady(10), minute, "", 192},
		{"at 60 s", every(minute, steady(10)), 4 * minute, "odd is scraped every 1m0s, the median series every 15s: all rates are averages over 4m0s", 192},
		{"from 60 s to 15 s at midnight", changed, 4 * minute, "odd is scraped every 1m0s", 192},
	} {
		db := scraped(t, 15*time.Second, 48*hour, slices.Concat(calls("a", "1", "200", "", steady(10)),
			calls("b", "1", "200", "", steady(10)), calls("odd", "1", "200", "", c.odd))...)
		m := measure(t, db, request(48*hour, named("a", "b", "odd")...))
		if m.ScrapeInterval != 15*time.Second || m.RateWindow != c.window || m.Step != c.window/4 {
			t.Errorf("%s: interval %s, window %s, step %s; want %s", c.why, m.ScrapeInterval, m.RateWindow, m.Step, c.window)
		}
		if said := strings.Join(m.Warnings, "; "); (said == "") != (c.warning == "") || !strings.Contains(said, c.warning) {
			t.Errorf("%s: warnings %q, want %q", c.why, said, c.warning)
		}
		odd := m.Dependencies["odd"]
		if odd.Slots.Healthy < c.leastHealthy || m.Dependencies["a"].Slots.Healthy != 192 {
			t.Errorf("%s: slots %+v, the others' %+v", c.why, odd.Slots, m.Dependencies["a"].Slots)
		}
		near(t, c.why+": peak", odd.PeakInstance.Value, 10, 0.01)
		near(t, c.why+": the others' peak", m.Dependencies["a"].PeakInstance.Value, 10, 0.01)
	}
}
