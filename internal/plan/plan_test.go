package plan_test

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bhsize/bhsize/internal/plan"
	"github.com/bhsize/bhsize/promquery"
	"github.com/bhsize/bhsize/schema"
	"github.com/bhsize/bhsize/sizing"
)

// load reads a file that must be usable.
func load(t *testing.T, text string) *schema.File {
	t.Helper()
	f, problems := schema.Load("bulkhead.yaml", []byte(text))
	if f == nil {
		t.Fatalf("the test's file is invalid: %v", problems)
	}
	return f
}

func build(t *testing.T, text string, m *promquery.Measurement) *plan.Service {
	t.Helper()
	p, err := plan.Build([]plan.Input{{File: load(t, text), Measurement: m}})
	if err != nil {
		t.Fatal(err)
	}
	return p.Services[0]
}

var end = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// measured is a healthy week of one dependency on four instances.
func measured(change func(*promquery.Dependency)) *promquery.Measurement {
	d := &promquery.Dependency{
		Name: "payments", Match: `destination_service="payments"`,
		PeakInstance: promquery.Peak{Value: 48.213, At: end}, PeakInstanceAll: promquery.Peak{Value: 60, At: end},
		PeakFleet: promquery.Peak{Value: 150, At: end}, PeakFleetAll: promquery.Peak{Value: 200, At: end},
		InFlight: promquery.Peak{Value: 1, At: end}, InFlightAll: promquery.Peak{Value: 1, At: end},
		InstancesAtPeak: 4, InstancesMin: 4, InstancesMax: 5, Skew: 1.2,
		P99:    promquery.Quantile{Value: 0.044, Low: 0.025, High: 0.05, TopBound: 10, Share: 0.2},
		P99All: promquery.Quantile{Value: 0.044, Low: 0.025, High: 0.05, TopBound: 10, Share: 0.2},
		Mean:   0.0203, MeanAll: 0.0203, Calls: 5e6, CallsAll: 5e6, Rejected: math.NaN(),
		SlotRates: []float64{75, 150}, Slots: promquery.SlotCount{Total: 672, Healthy: 672},
	}
	if change != nil {
		change(d)
	}
	return &promquery.Measurement{
		Preset: "istio", Series: promquery.Series{Counter: "calls_total", Level: promquery.LevelCall, Ends: promquery.EndsComplete},
		Start: end.Add(-7 * 24 * time.Hour), End: end, DataStart: end.Add(-7 * 24 * time.Hour),
		Dependencies: map[string]*promquery.Dependency{"payments": d},
	}
}

// withDependency adds another dependency to a measurement.
func withDependency(m *promquery.Measurement, name string, change func(*promquery.Dependency)) *promquery.Measurement {
	d := measured(change).Dependencies["payments"]
	d.Name = name
	m.Dependencies[name] = d
	return m
}

const head = `
version: 1
service: checkout
pools: {outbound: {size: 100, reserved: 10}}
`

func TestWhichPeakBinds(t *testing.T) {
	tests := []struct {
		name, instances, want string
		binds                 bool
		why                   string
	}{
		{"counted instances", "", "48.3", false, "fleet 150 / 4 x 1.2 = 45 is below the busiest instance, 48.213 rounded up"},
		{"the file says fewer", "instances: {min: 3, max: 12}", "60", true, "fleet 150 / 3 x 1.2 = 60 would land on one of the three"},
		{"the file says more", "instances: 20", "48.3", false, "an instance did see 48.3, however many there are"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := build(t, head+tt.instances+"\nbulkheads: {payments: {}}\n", measured(nil))
			traffic := s.Bulkheads[0].Traffic
			if got := sizing.FormatNumber(traffic.PeakRPS); got != tt.want || traffic.FleetBinds() != tt.binds {
				t.Errorf("peak %s/s, fleet binds %v; want %s, %v: %s", got, traffic.FleetBinds(), tt.want, tt.binds, tt.why)
			}
		})
	}
}

func TestPermits(t *testing.T) {
	tests := []struct {
		name, fields string
		level        promquery.Level
		permits      int
		why          string
	}{
		{"plain", "{}", promquery.LevelCall, 5, "48.3 x 0.044 x 2 = 4.25"},
		{"margin", "{headroom: 33%}", promquery.LevelCall, 3, "48.3 x 0.044 x 1.33 = 2.83"},
		{"budget", "{retries: {max_attempts: 3, budget: 20%}}", promquery.LevelCall, 6, "m = 1.2: 5.10"},
		{"no budget", "{retries: {max_attempts: 3}}", promquery.LevelCall, 13, "m = 3: 12.75"},
		{"call covers its retries", "{covers: call, retries: {max_attempts: 3}}", promquery.LevelCall, 5, "call-level durations contain them: m = 1"},
		{"call measured by attempts", "{covers: call, retries: {max_attempts: 3}}", promquery.LevelAttempt, 13, "the permit spans all three"},
		{"auto", "{headroom: auto}", promquery.LevelCall, 7, "a = 48.3 x 0.0203 = 0.980; B(6) = 0.046 %, B(7) = 0.0065 % <= 0.01 %"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := measured(nil)
			m.Series.Level = tt.level
			b := build(t, head+"bulkheads: {payments: "+tt.fields+"}\n", m).Bulkheads[0]
			if b.Permits == nil || *b.Permits != tt.permits {
				t.Errorf("permits %v (%s), want %d: %s", show(b.Permits), b.Failure, tt.permits, tt.why)
			}
		})
	}
}

func show(n *int) any {
	if n == nil {
		return "unknown"
	}
	return *n
}

func TestProcessesShareTheInstance(t *testing.T) {
	b := build(t, head+"processes: 4\nbulkheads: {payments: {}}\n", measured(nil)).Bulkheads[0]
	if *b.Permits != 2 || sizing.FormatNumber(b.Traffic.PeakRPS) != "48.3" {
		t.Errorf("permits %d at %s/s, want 2 of a process that sees a quarter of 48.3/s (1.06 in flight), the peak itself unchanged", *b.Permits, sizing.FormatNumber(b.Traffic.PeakRPS))
	}
}

func TestBoundsAroundThePermits(t *testing.T) {
	b := build(t, head+"bulkheads: {payments: {}}\n", measured(nil)).Bulkheads[0]
	if *b.Low != 3 || *b.High != 5 {
		t.Errorf("permits at the bucket's bounds %d to %d, want 3 (25ms: 2.4) to 5 (50ms: 4.83)", *b.Low, *b.High)
	}
}

func TestWhatCannotBeSized(t *testing.T) {
	tests := []struct {
		name, fields string
		change       func(*promquery.Dependency)
		says         string
	}{
		{"clipped", "{}", func(d *promquery.Dependency) { d.P99.High, d.P99.Value = math.Inf(1), math.NaN() }, "highest bucket bound, 10s"},
		{"too few calls", "{}", func(d *promquery.Dependency) { d.Calls = 999 }, "only 999 healthy calls"},
		{"auto without a mean", "{headroom: auto}", func(d *promquery.Dependency) { d.Mean = math.NaN() }, "there is no mean"},
		{"no series", "{}", func(d *promquery.Dependency) {
			d.Slots = promquery.SlotCount{Total: 672, Missing: 672}
			d.Calls, d.CallsAll = 0, 0
		}, "no series"},
		{"mostly unhealthy", "{}", func(d *promquery.Dependency) {
			d.Slots = promquery.SlotCount{Total: 672, Healthy: 400, Unhealthy: 272}
		}, "40 % of the time was unhealthy"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := build(t, head+"bulkheads: {payments: "+tt.fields+"}\n", measured(tt.change))
			b := s.Bulkheads[0]
			if b.Permits != nil || !strings.Contains(b.Failure, tt.says) || b.Next == "" || b.Confidence != plan.ConfidenceNone {
				t.Errorf("permits %v, failure %q, next %q; want no number, %q and a next step", show(b.Permits), b.Failure, b.Next, tt.says)
			}
		})
	}
}

func TestClippedStillGivesTheMean(t *testing.T) {
	b := build(t, head+"bulkheads: {payments: {}}\n", measured(func(d *promquery.Dependency) { d.P99.High = math.Inf(1) })).Bulkheads[0]
	if b.MeanInFlight == nil || !strings.Contains(b.Failure, "20.3ms") {
		t.Errorf("mean in flight %v, failure %q: the mean is known and must be said", b.MeanInFlight, b.Failure)
	}
}

func TestUninformativeQuantileSizesByTheMean(t *testing.T) {
	b := build(t, head+"bulkheads: {payments: {}}\n", measured(func(d *promquery.Dependency) {
		d.QuantileDoubt = &promquery.Remark{ID: promquery.RemarkOneBucket, Text: "all in one bucket"}
	})).Bulkheads[0]
	if b.SizedBy != plan.SizedByMean || *b.Permits != 7 || b.Confidence != plan.ConfidenceLow {
		t.Errorf("sized by %s: %v, confidence %s; want by the mean 7, low", b.SizedBy, show(b.Permits), b.Confidence)
	}
}

func TestNeverShrinksOnItsOwnRejections(t *testing.T) {
	const file = head + "bulkheads: {payments: {permits: 9}}\n"
	calm := build(t, file, measured(func(d *promquery.Dependency) { d.Rejected = 0 })).Bulkheads[0]
	limited := build(t, file, measured(func(d *promquery.Dependency) { d.Rejected = 12 })).Bulkheads[0]
	if *calm.Permits != 5 || *limited.Permits != 9 {
		t.Errorf("permits %d without and %d with rejections, want 5 and the present 9: the rate is a floor", *calm.Permits, *limited.Permits)
	}
	if limited.Confidence != plan.ConfidenceLow {
		t.Errorf("confidence %s with a censored rate, want low", limited.Confidence)
	}
}

func TestUnknownMeanStaysUnknown(t *testing.T) {
	b := build(t, head+"bulkheads: {payments: {permits: 9}}\n", measured(func(d *promquery.Dependency) { d.Mean = math.NaN() })).Bulkheads[0]
	if b.MeanInFlight != nil || b.Shed != nil || b.ShedWindow != nil || b.ShedNow != nil {
		t.Errorf("in flight %v, shed %v %v %v: all must be unknown without a mean", b.MeanInFlight, b.Shed, b.ShedWindow, b.ShedNow)
	}
	if b.Stall == nil || b.Stall.Fill != nil || b.Stall.FillFromEmpty == nil {
		t.Errorf("stall %+v: from empty is known, from the mean in flight is not", b.Stall)
	}
}

// crowd does not fit 90: 60 + 50 + 20.
const crowd = head + `
instances: 2
bulkheads:
  payments: {criticality: critical, traffic: {peak_rps: 300, p99: 100ms, mean: 50ms}}
  search: {traffic: {peak_rps: 250, p99: 100ms, mean: 40ms}}
  extras: {criticality: optional, traffic: {peak_rps: 100, p99: 100ms, mean: 30ms}}
`

func TestCutPlan(t *testing.T) {
	s := build(t, crowd, nil)
	pool := s.Pools[0]
	if *pool.Fits || pool.Wanted != 130 || pool.Permits != 90 || pool.Short != 0 {
		t.Fatalf("wanted %d, fits %v, after cuts %d, short %d; want 130, false, 90, 0", pool.Wanted, *pool.Fits, pool.Permits, pool.Short)
	}
	got := map[string]int{}
	for _, b := range s.Bulkheads {
		got[b.Spec.Name] = *b.Permits
	}
	if got["payments"] != 60 || got["payments"]+got["search"]+got["extras"] != 90 {
		t.Errorf("permits %v: the critical one keeps 60, the others share 30", got)
	}
	if got["extras"] >= 10 || got["search"] != 25 {
		t.Errorf("permits %v: extras gives way below its demand of 10 before search goes below its 25", got)
	}
	for _, c := range pool.Cuts {
		if c.Name == "payments" || c.ShedBefore == nil || c.ShedAfter == nil || *c.ShedAfter < *c.ShedBefore {
			t.Errorf("cut %+v: never a critical one, and every cut has its price", c)
		}
	}
	if *pool.SizeFor != 140 {
		t.Errorf("size that would do: %d, want 130 + 10 reserved", *pool.SizeFor)
	}
	if *pool.InstancesFor != 3 {
		t.Errorf("instances that would do: %d, want 3: 40 + 34 + 14 = 88", *pool.InstancesFor)
	}
}

func TestNothingFitsIsSaid(t *testing.T) {
	s := build(t, strings.Replace(crowd, "size: 100", "size: 50", 1), nil)
	if pool := s.Pools[0]; pool.Short != 33 {
		t.Errorf("short by %d, want 33: payments 60, search 10 and extras 3 (their means) against 40", pool.Short)
	}
}

func TestUnsizedKeepsItsPermitsInTheBudget(t *testing.T) {
	s := build(t, head+`
bulkheads:
  payments: {}
  legacy: {permits: 80}
`, withDependency(measured(nil), "legacy", func(d *promquery.Dependency) { d.Calls = 3 }))
	pool := s.Pools[0]
	if pool.Wanted != 85 || !*pool.Fits || len(pool.Unsized) != 1 {
		t.Errorf("wanted %d, fits %v, unsized %v; want 85 (5 and the present 80), true, legacy", pool.Wanted, *pool.Fits, pool.Unsized)
	}
}

func TestBackendOverAllFiles(t *testing.T) {
	const file = `
version: 1
service: NAME
instances: {min: 2, max: 10, surge: 2}
processes: 2
pools: {db: {size: 10, reserved: 1, backend: {name: postgres, capacity: 500, reserved: 13, others: 40}}}
bulkheads: {payments: {permits: 3, traffic: {peak_rps: 10, p99: 100ms}}}
`
	var inputs []plan.Input
	for _, name := range []string{"a", "b"} {
		inputs = append(inputs, plan.Input{File: load(t, strings.Replace(file, "NAME", name, 1))})
	}
	one, err := plan.Build(inputs[:1])
	if err != nil {
		t.Fatal(err)
	}
	two, err := plan.Build(inputs)
	if err != nil {
		t.Fatal(err)
	}
	if b := one.Backends[0]; b.Used != 280 || b.Available != 487 || !*b.Fits {
		t.Errorf("one service uses %d of %d, fits %v; want 10 x 2 processes x 12 instances + 40 = 280 of 487", b.Used, b.Available, *b.Fits)
	}
	if b := two.Backends[0]; b.Used != 520 || *b.Fits || two.Fits() {
		t.Errorf("two services use %d, fits %v; want 520 of 487: does not", b.Used, *b.Fits)
	}
}

func TestBackendDescribedTwiceMustAgree(t *testing.T) {
	const file = "version: 1\nservice: s\ninstances: 2\npools: {a: {size: 10, backend: {name: pg, capacity: 100}}}\n" +
		"bulkheads: {x: {permits: 1, traffic: {peak_rps: 1, p99: 10ms}}}\n"
	other := strings.Replace(file, "100", "200", 1)
	_, err := plan.Build([]plan.Input{{File: load(t, file)}, {File: load(t, other)}})
	if err == nil || !strings.Contains(err.Error(), "described differently") {
		t.Errorf("error %v, want one that says the two descriptions differ", err)
	}
}

func TestFileTrafficAloneGivesTheSamePermits(t *testing.T) {
	fresh := build(t, head+"instances: 4\nbulkheads: {payments: {}}\n", measured(nil))
	change := fresh.Changes()[0]
	f := load(t, head+"instances: 4\nbulkheads: {payments: {}}\n")
	text, err := f.Edit([]schema.Change{change})
	if err != nil {
		t.Fatal(err)
	}
	offline := build(t, string(text), nil).Bulkheads[0]
	if *offline.Permits != *fresh.Bulkheads[0].Permits || *offline.MeanInFlight != *fresh.Bulkheads[0].MeanInFlight {
		t.Errorf("offline %d permits at %g in flight, measured %d at %g: the written file must lead to the same number",
			*offline.Permits, *offline.MeanInFlight, *fresh.Bulkheads[0].Permits, *fresh.Bulkheads[0].MeanInFlight)
	}
}

func TestSingle(t *testing.T) {
	shed := func(s *plan.Single) float64 { return *s.Shed }
	hystrix := plan.SingleInput{TargetShed: big.NewRat(1, 1000), Spec: schema.Bulkhead{
		Covers: "attempt", Headroom: sizing.Headroom{Factor: big.NewRat(2, 1)},
		Traffic: &schema.Traffic{PeakRPS: big.NewRat(20, 1), Mean: big.NewRat(1, 4)}, Permits: ptr(10),
	}}
	s, err := plan.BuildSingle(hystrix)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(shed(s)-0.0184) > 0.0001 || *s.Wanted != 14 {
		t.Errorf("shed %.4f with 10, %d permits for 0.1 %%; the public report of Hystrix #2001 gives 1.84 %% and 14", shed(s), *s.Wanted)
	}
	z := 2.0
	hystrix.Peakedness = &z
	peaked, err := plan.BuildSingle(hystrix)
	if err != nil {
		t.Fatal(err)
	}
	if shed(peaked) <= shed(s) {
		t.Errorf("shed %.4f with peakedness 2, %.4f without: bursts shed more", shed(peaked), shed(s))
	}
}

func ptr(n int) *int { return &n }

// TestBudgetMinimumIsPerInstance: however many processes share an instance, its
// budget allows so many retries a second.
func TestBudgetMinimumIsPerInstance(t *testing.T) {
	const file = head + "processes: 4\nbulkheads: {payments: {retries: {max_attempts: 5, budget: {ratio: 20%, min_per_second: 40}}, traffic: {peak_rps: 400, p99: 100ms, mean: 50ms}}}\n"
	b := build(t, file, nil).Bulkheads[0]
	if got := sizing.FormatNumber(b.Attempts); got != "1.3" || *b.Permits != 26 {
		t.Errorf("attempts %s, permits %d; want 1 + 0.2 + 40/400 = 1.3 and 100/s x 1.3 x 0.1 x 2 = 26", got, *b.Permits)
	}
}

// TestInstancesThatWouldDo: the number found fits when it is written into the
// file, and one instance less does not.
func TestInstancesThatWouldDo(t *testing.T) {
	file := func(rps, instances string) string {
		return strings.Replace(head, "size: 100", "size: 21", 1) + "instances: " + instances + "\nbulkheads: {x: {retries: {max_attempts: 3, budget: {ratio: 0%, min_per_second: 5}}, traffic: {peak_rps: " + rps + ", p99: 100ms}}}\n"
	}
	pool := build(t, file("120", "3"), nil).Pools[0]
	if pool.InstancesFor == nil {
		t.Fatal("no number of instances was found")
	}
	n := *pool.InstancesFor
	for _, tt := range []struct {
		instances int
		fits      bool
	}{{n, true}, {n - 1, false}} {
		rps := strconv.FormatFloat(360/float64(tt.instances), 'f', 9, 64)
		if got := build(t, file(rps, "1"), nil).Pools[0]; *got.Fits != tt.fits {
			t.Errorf("%d instances at %s/s: %d permits of %d, fits %v; want %v, since %d was said to be the fewest", tt.instances, rps, got.Wanted, got.Budget, *got.Fits, tt.fits, n)
		}
	}
}

func TestCutsStopAtTheMean(t *testing.T) {
	s := build(t, strings.Replace(head, "size: 100, reserved: 10", "size: 30", 1)+`
bulkheads:
  core: {criticality: critical, traffic: {peak_rps: 75, p99: 100ms, mean: 50ms}}
  batch: {criticality: optional, headroom: auto, traffic: {peak_rps: 1000, mean: 20ms}}
`, nil)
	batch := s.Bulkheads[1]
	if *batch.Permits != 20 || s.Pools[0].Short != 5 {
		t.Errorf("batch %d permits, short %d; want its 20 in flight kept, 5 short", *batch.Permits, s.Pools[0].Short)
	}
}

func TestWhatTheFileSaysIsJudgedToo(t *testing.T) {
	tests := []struct {
		name, traffic string
		confidence    plan.Confidence
	}{
		{"plenty", "calls: 5000000, window: 14d", plan.ConfidenceHigh},
		{"two days", "calls: 5000000, window: 2d", plan.ConfidenceLow},
		{"few calls", "calls: 50, window: 14d", plan.ConfidenceLow},
		{"wide bucket", "calls: 5000000, window: 14d, p99_bounds: [10ms, 1s]", plan.ConfidenceLow},
		{"rejected", "calls: 5000000, window: 14d, rejected: 7", plan.ConfidenceLow},
		{"nothing said", "mean: 20ms", plan.ConfidenceLow},
	}
	for _, tt := range tests {
		b := build(t, head+"bulkheads: {x: {traffic: {peak_rps: 100, p99: 100ms, "+tt.traffic+"}}}\n", nil).Bulkheads[0]
		if b.Confidence != tt.confidence {
			t.Errorf("%s: confidence %s (%v), want %s", tt.name, b.Confidence, b.Doubts, tt.confidence)
		}
	}
}

// TestCensoringSurvivesTheFile: what the limit rejected is written, so that the
// file alone does not shrink either; a cut below is said.
func TestCensoringSurvivesTheFile(t *testing.T) {
	const file = head + "bulkheads: {payments: {permits: 9}}\n"
	rejecting := measured(func(d *promquery.Dependency) { d.Rejected = 12 })
	text, err := load(t, file).Edit(build(t, file, rejecting).Changes())
	if err != nil {
		t.Fatal(err)
	}
	if b := build(t, string(text), nil).Bulkheads[0]; *b.Permits != 9 {
		t.Errorf("offline %d permits, want the present 9 kept: %s", *b.Permits, text)
	}
	tight := strings.Replace(file, "size: 100, reserved: 10", "size: 6", 1)
	cut := build(t, tight, rejecting).Bulkheads[0]
	said := slices.ContainsFunc(cut.Notes, func(r promquery.Remark) bool { return r.ID == plan.NoteCutBelow })
	if *cut.Permits >= 9 || !said {
		t.Errorf("permits %d, notes %v; want a cut below 9 that is said", *cut.Permits, cut.Notes)
	}
}

func TestCallCoversItsBackoffs(t *testing.T) {
	b := build(t, head+`
bulkheads: {x: {covers: call, headroom: 6, timeout: 100ms, retries: {max_attempts: 3, backoff: {initial: 1s}}, traffic: {peak_rps: 100, p99: 100ms, mean: 50ms}}}
`, nil).Bulkheads[0]
	if !b.Stall.Fills || b.Stall.Hold != 60 {
		t.Errorf("stall %+v: each call holds its permit for 3 x 100 ms + 1 s + 2 s, 330 wanted of 60", *b.Stall)
	}
}

func TestQueueByLengthWaits(t *testing.T) {
	b := build(t, head+`
bulkheads: {x: {timeout: 1s, deadline: 4s, queue: {length: 1000}, traffic: {peak_rps: 100, p99: 100ms, mean: 50ms}}}
`, nil).Bulkheads[0]
	if got := sizing.FormatDuration(b.WorstWait); *b.FitsDeadline || got != "51s" {
		t.Errorf("worst wait %s, fits the deadline %v; want ceil(1000/20) x 1 s + 1 s = 51s, which does not", got, *b.FitsDeadline)
	}
	if b.QueueShed == nil || b.QueueShed.Law != "M/M/c/K" {
		t.Errorf("shed with the queue %+v, want M/M/c/K", b.QueueShed)
	}
}

func TestUnknownFitIsNull(t *testing.T) {
	s := build(t, head+"bulkheads: {a: {traffic: {peak_rps: 1, p99: 10ms}}, b: {}}\n", nil)
	if s.Pools[0].Fits != nil {
		t.Errorf("fits %v: b has neither a number nor permits, so nobody knows", *s.Pools[0].Fits)
	}
	const file = "version: 1\nservice: s\npools: {db: {size: 10, backend: {name: pg, capacity: 100}}}\nbulkheads: {x: {traffic: {peak_rps: 1, p99: 10ms}}}\n"
	p, err := plan.Build([]plan.Input{{File: load(t, file)}})
	if err != nil {
		t.Fatal(err)
	}
	if b := p.Backends[0]; b.Fits != nil {
		t.Errorf("backend fits %v although no number of instances is known", *b.Fits)
	}
}

// TestOneOddBulkheadHidesNothing: what cannot be computed is left out, and said.
func TestOneOddBulkheadHidesNothing(t *testing.T) {
	s := build(t, head+`
bulkheads:
  odd: {queue: {timeout: 10000d}, timeout: 1s, traffic: {peak_rps: 1, p99: 10ms, mean: 3us}}
  good: {traffic: {peak_rps: 100, p99: 100ms, mean: 50ms}}
`, nil)
	if odd, good := s.Bulkheads[0], s.Bulkheads[1]; *good.Permits != 20 || odd.Permits == nil || odd.QueueShed != nil {
		t.Errorf("good %v, odd %v with queue %v; want 20, a number, and no estimate for the queue", show(good.Permits), show(odd.Permits), odd.QueueShed)
	}
}

// TestObservedAttemptsAreNotProvisionedTwice: a rate of attempts has the
// retries in it that happened.
func TestObservedAttemptsAreNotProvisionedTwice(t *testing.T) {
	const fields = "{retries: {max_attempts: 3, budget: 20%}, traffic: {peak_rps: 110, p99: 100ms, level: attempt, attempts_per_call: 1.1}}"
	b := build(t, head+"bulkheads: {x: "+fields+"}\n", nil).Bulkheads[0]
	if got := b.Attempts.RatString(); got != "12/11" || *b.Permits != 24 {
		t.Errorf("attempts %s, permits %d; want 1.2/1.1 and 110/s x 12/11 x 0.1 x 2 = 24, as 100 calls a second x 1.2 would", got, *b.Permits)
	}
	busy := strings.Replace(fields, "1.1}", "1.5}", 1)
	if b = build(t, head+"bulkheads: {x: "+busy+"}\n", nil).Bulkheads[0]; b.Attempts.RatString() != "1" {
		t.Errorf("attempts %s: never below 1, however many were seen", b.Attempts.RatString())
	}
}

// TestObservedAttemptsSurviveTheFile: offline, the same permits follow.
func TestObservedAttemptsSurviveTheFile(t *testing.T) {
	const file = head + "instances: 4\nbulkheads: {payments: {retries: {max_attempts: 3, budget: 20%}}}\n"
	m := measured(func(d *promquery.Dependency) { d.AttemptsPerCall = 1.13342 })
	m.Series.Level = promquery.LevelAttempt
	fresh := build(t, file, m)
	text, err := load(t, file).Edit(fresh.Changes())
	if err != nil {
		t.Fatal(err)
	}
	offline, online := build(t, string(text), nil).Bulkheads[0], fresh.Bulkheads[0]
	if offline.Attempts.Cmp(online.Attempts) != 0 || *offline.Permits != *online.Permits || online.Attempts.Cmp(big.NewRat(6, 5)) >= 0 {
		t.Errorf("attempts %s measured, %s from the file: equal and below 1.2 wanted\n%s", online.Attempts.RatString(), offline.Attempts.RatString(), text)
	}
}
