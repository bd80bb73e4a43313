package sizing

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var approximately = cmpopts.EquateApprox(1e-9, 1e-12)

func TestStallEffect(t *testing.T) {
	x := func(s string) *big.Rat { return rat(t, s) }
	for _, tc := range []struct {
		name   string
		s      Stall
		want   StallEffect
		reason string
	}{
		{
			"no timeout", Stall{20, x("100"), x("1"), nil, ptr(5.0), nil},
			StallEffect{Hold: 20, Fills: true, Fill: ptr(0.15), FillFromEmpty: ptr(0.2)},
			"unbounded: nothing ever leaves",
		},
		{
			"timeout beyond the fill", Stall{20, x("100"), x("3"), x("10"), ptr(5.0), nil},
			StallEffect{Hold: 20, Bounded: true, PermitSeconds: ptr(10.0), Fills: true, Fill: ptr(0.15), FillFromEmpty: ptr(0.2)},
			"full before the first retry",
		},
		{
			"never", Stall{15, x("10"), x("1"), x("1"), ptr(1.0), nil},
			StallEffect{Hold: 10, Bounded: true, PermitSeconds: ptr(1.0)},
			"10/s x 1 s is 10 of 15",
		},
		{
			"retries fill it", Stall{15, x("10"), x("2"), x("1"), ptr(1.0), nil},
			StallEffect{Hold: 15, Bounded: true, PermitSeconds: ptr(1.0), Fills: true, Fill: ptr(1.5), FillFromEmpty: ptr(1.5)},
			"10 after 1 s, and the second attempts bring 5 more in half a second",
		},
		{
			"a fraction of a retry", Stall{12, x("10"), x("1.5"), x("1"), ptr(1.0), nil},
			StallEffect{Hold: 12, Bounded: true, PermitSeconds: ptr(1.0), Fills: true, Fill: ptr(1.4), FillFromEmpty: ptr(1.4)},
			"10 after 1 s, then 5/s",
		},
		{
			"exactly", Stall{10, x("10"), x("1"), x("1"), nil, nil},
			StallEffect{Hold: 10, Bounded: true, PermitSeconds: ptr(1.0), Fills: true, FillFromEmpty: ptr(1.0)},
			"10/s x 1 s is 10; without a mean the fill is not guessed",
		},
		{
			"in the third interval", Stall{25, x("10"), x("2.5"), x("1"), ptr(0.0), nil},
			StallEffect{Hold: 25, Bounded: true, PermitSeconds: ptr(1.0), Fills: true, Fill: ptr(3.0), FillFromEmpty: ptr(3.0)},
			"20 after 2 s, then 5/s: r m T is reached at 3 s, the end of the last interval",
		},
		{
			"full already", Stall{10, x("10"), x("1"), x("1"), ptr(12.0), nil},
			StallEffect{Hold: 10, Bounded: true, PermitSeconds: ptr(1.0), Fills: true, Fill: ptr(0.0), FillFromEmpty: ptr(1.0)},
			"a above permits",
		},
		{
			"no traffic", Stall{10, x("0"), x("1"), nil, ptr(0.0), nil},
			StallEffect{},
			"nobody calls",
		},
		{
			"2 s for 30 s", Stall{100, x("1"), x("1"), x("2"), nil, nil},
			StallEffect{Hold: 2, Bounded: true, PermitSeconds: ptr(2.0)},
			"published: 15 times fewer permit-seconds than the default of 30 s",
		},
		{
			"a call with its backoffs", Stall{15, x("10"), x("2"), x("0.5"), ptr(1.0), x("1.3")},
			StallEffect{Hold: 13, Bounded: true, PermitSeconds: ptr(1.3)},
			"2 x 0.5 s and 0.3 s of backoff: 10/s x 1.3 s is 13, where the attempts alone would make 10",
		},
		{
			"a call fills", Stall{13, x("10"), x("2"), x("0.5"), ptr(1.0), x("1.3")},
			StallEffect{Hold: 13, Bounded: true, PermitSeconds: ptr(1.3), Fills: true, Fill: ptr(1.2), FillFromEmpty: ptr(1.3)},
			"nothing comes free before 1.3 s, and no retry takes a second permit",
		},
		{
			"a call with a retry budget", Stall{13, x("10"), x("1.2"), x("0.5"), nil, x("1.3")},
			StallEffect{Hold: 13, Bounded: true, PermitSeconds: ptr(1.3), Fills: true, FillFromEmpty: ptr(1.3)},
			"the budget's bound does not shorten the hold of a call that retries",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := must[StallEffect](t)(tc.s.Effect())
			if diff := cmp.Diff(tc.want, got, approximately); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTimeoutBlackholeFluid(t *testing.T) {
	for _, r := range oracle(t, "timeout_blackhole") {
		if r.text("cap") == "" { // no bulkhead: the pool itself fills
			continue
		}
		s := Stall{Permits: r.int("cap"), Rate: r.rat("rate"), StallAttempts: ratInt(1), Timeout: r.rat("timeout_s")}
		e := must[StallEffect](t)(s.Effect())
		r.matches("slots_held_fluid", e.Hold, 12)
		r.matches("in_flight_unbounded=rate*timeout", Float(s.reach()), 12)
		if r.text("compartment_fill_s") == "never" {
			if e.Fills || e.FillFromEmpty != nil {
				t.Errorf("%s: fills", r.name)
			}
			continue
		}
		r.matches("compartment_fill_s", *e.FillFromEmpty, 12)
		a := must[float64](t)(MeanInFlight(s.Rate, ratInt(1), s.Timeout))
		low, _, err := QueueShedBounds(a, s.Permits)
		if err != nil {
			t.Fatal(err)
		}
		r.matches("shed_fraction_fluid", low, 12)
		r.matches("pool_fraction_held", must[float64](t)(BlastRadius(s.Permits, r.int("pool"))), 12)
	}
}

// TestStallFillSimulated steps the fluid that Effect describes, attempt by
// attempt, and compares when it reaches the permits.
func TestStallFillSimulated(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	for range 300 {
		rate, timeout := 1+rng.Float64()*50, 0.1+rng.Float64()*3
		m := 1 + float64(rng.IntN(40))/10
		inUse := func(at float64) (n float64) {
			for left, age := m, at; left > 0 && age > 0; left, age = left-1, age-timeout {
				n += min(left, 1) * rate * min(age, timeout)
			}
			return n
		}
		permits := 1 + rng.IntN(int(rate*timeout*m)+1)
		s := Stall{permits, new(big.Rat).SetFloat64(rate), new(big.Rat).SetFloat64(m), new(big.Rat).SetFloat64(timeout), nil, nil}
		e := must[StallEffect](t)(s.Effect())
		if !e.Fills {
			if most := inUse(1e6); most >= float64(permits) {
				t.Fatalf("%+v never fills, but %v come in use", s, most)
			}
			continue
		}
		if got := inUse(*e.FillFromEmpty); math.Abs(got-float64(permits)) > 1e-6*float64(permits) {
			t.Fatalf("rate %v, m %v, timeout %v: %v in use at the fill time %v of %d", rate, m, timeout, got, *e.FillFromEmpty, permits)
		}
	}
}

// TestCallStallSimulated plays calls at an even rate, each of which holds one
// permit for all of its attempts and backoffs.
func TestCallStallSimulated(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	for range 500 {
		every := 1 + rng.IntN(50) // ms between two calls
		w := Wait{CoversCall: true, Attempts: 1 + rng.IntN(4), Timeout: big.NewRat(int64(1+rng.IntN(800)), 1000), BackoffInitial: big.NewRat(int64(rng.IntN(200)), 1000)}
		hold := must[*big.Rat](t)(CallHold(w))
		ms := int(Float(new(big.Rat).Mul(hold, ratInt(1000))) + 0.5)
		permits := 1 + rng.IntN(2*(ms/every)+2)
		s := Stall{Permits: permits, Rate: big.NewRat(1000, int64(every)), StallAttempts: ratInt(w.Attempts), Timeout: w.Timeout, CallHold: hold, MeanInFlight: ptr(0.0)}
		e := must[StallEffect](t)(s.Effect())

		full, most := -1, 0
		for at := 0; at < 3*ms+2*every*permits; at += every { // a call comes at the end of each interval
			held := min(permits, 1+min(at, ms-1)/every)
			most = max(most, held)
			if held == permits && full < 0 {
				full = at + every
			}
		}
		if math.Abs(e.Hold-float64(most)) > 1 {
			t.Fatalf("%+v: holds %v, played %d", s, e.Hold, most)
		}
		if e.Fills && (full < 0 || math.Abs(*e.Fill-float64(full)/1000) > 1e-9) {
			t.Fatalf("%+v: full after %v s, played %d ms", s, *e.Fill, full)
		}
	}
}

func TestStallErrors(t *testing.T) {
	one := ratInt(1)
	for _, tc := range []struct {
		s    Stall
		want string
	}{
		{Stall{0, one, one, nil, nil, nil}, "permits is 0"},
		{Stall{1, nil, one, nil, nil, nil}, "rate is missing"},
		{Stall{1, rat(t, "-1"), one, nil, nil, nil}, "rate is -1"},
		{Stall{1, one, nil, nil, nil, nil}, "stall attempts is missing"},
		{Stall{1, one, rat(t, "0.5"), nil, nil, nil}, "stall attempts is 0.5"},
		{Stall{1, one, one, new(big.Rat), nil, nil}, "timeout is 0"},
		{Stall{1, one, one, nil, ptr(math.NaN()), nil}, "mean in flight"},
		{Stall{1, one, one, rat(t, "1e400"), nil, nil}, "stall time"},
		{Stall{1, rat(t, "1e-400"), one, nil, nil, nil}, "stall time"},
		{Stall{1, rat(t, "1e-400"), one, nil, ptr(0.0), nil}, "stall time"},
		{Stall{1, rat(t, "1e-400"), one, nil, ptr(1.0), nil}, "stall time"},
		{Stall{1, one, one, one, nil, new(big.Rat)}, "holds its permit for 0s"},
		{Stall{1, one, one, one, nil, rat(t, "0.5")}, "holds its permit for 500ms, with a timeout of 1s"},
		{Stall{1, one, one, nil, nil, one}, "with a timeout of unknown"},
		{Stall{1, one, one, one, nil, rat(t, "-1")}, "call hold is -1"},
	} {
		_, err := tc.s.Effect()
		wantError(t, err, tc.want)
	}
}

func TestPoolLeft(t *testing.T) {
	holds := []int{15, 40, 10, 25}
	for _, tc := range []struct {
		size, k, want int
		reason        string
	}{
		{100, 0, 100, "nothing stalls"},
		{100, 1, 60, "the largest"},
		{100, 2, 35, "the two largest"},
		{100, 4, 10, "all: the reserve is left"},
		{100, 9, 10, "more than there are"},
		{100, -1, 100, "fewer than none"},
		{50, 2, 0, "never below 0"},
		{-5, 0, 0, "never below 0"},
	} {
		if got := PoolLeft(tc.size, holds, tc.k); got != tc.want {
			t.Errorf("pool of %d, %d stall: %d left, want %d: %s", tc.size, tc.k, got, tc.want, tc.reason)
		}
	}
	if got := PoolLeft(10, []int{math.MaxInt, math.MaxInt, -3}, 3); got != 0 {
		t.Errorf("enormous holds leave %d", got)
	}
	if diff := cmp.Diff([]int{15, 40, 10, 25}, holds); diff != "" {
		t.Errorf("the caller's list was changed:\n%s", diff)
	}
}

func TestBlastRadius(t *testing.T) {
	if got := must[float64](t)(BlastRadius(20, 200)); got != 0.1 {
		t.Errorf("20 of 200 is %v", got)
	}
	_, err := BlastRadius(1, 0)
	wantError(t, err, "pool size is 0")
	_, err = BlastRadius(0, 1)
	wantError(t, err, "permits is 0")
}
