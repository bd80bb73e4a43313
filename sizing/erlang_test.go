package sizing

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestErlangBOracle(t *testing.T) {
	for _, r := range oracle(t, "erlang_b") {
		a, c := r.float("a"), r.int("c")
		got := must[float64](t)(ErlangB(a, c))
		r.matches("B", got, erlangDigits(c))
		table := must[[]float64](t)(ErlangBTable(a, c))
		r.matches("B", table[c], erlangDigits(c)-1)
	}
}

// erlangDigits is what float64 can give: 15 digits, fewer where a million steps
// add up their rounding.
func erlangDigits(c int) int {
	if c > 10000 {
		return 13
	}
	return 14
}

func TestErlangBContinuousOracle(t *testing.T) {
	for _, r := range oracle(t, "erlang_b_continuous") {
		r.matches("B", must[float64](t)(ErlangBContinuous(r.float("a"), r.float("c_real"))), 14)
	}
}

func TestErlangBDerivativesOracle(t *testing.T) {
	for _, r := range oracle(t, "erlang_b_derivatives") {
		a, c := r.float("a"), r.float("c")
		table := must[[]float64](t)(ErlangBTable(a, int(c)+1))
		b, c0 := table[int(c)], int(c)
		r.matches("B", b, 12)
		r.matches("dB_da", b*(c/a-1+b), 12)
		r.matches("drop_c_to_c+1", b-table[c0+1], 11)
		r.matches("drop_c-1_to_c", table[c0-1]-b, 11)
		const h = 1e-4
		slope := (erlangB(a, c+h) - erlangB(a, c-h)) / (2 * h)
		r.matches("dB_dc_continuous", slope, 7)
		p := prices{a: a, rate: 1}
		r.matches("drop_c-1_to_c", p.of(c0), 11)
	}
}

func TestPermitsForShedOracle(t *testing.T) {
	for _, r := range oracle(t, "erlang_b_inverse") {
		a, target, want := r.float("a"), r.float("target_B"), r.int("c_min")
		if got := must[int](t)(PermitsForShed(a, target)); got != want {
			t.Errorf("%s: %d permits, want %d", r.name, got, want)
		}
		if got := must[int](t)(PermitsForShedPeaked(a, 1, target)); got != want {
			t.Errorf("%s: %d permits by Hayward with z = 1, want %d", r.name, got, want)
		}
		r.matches("B_at_c_min", must[float64](t)(ErlangB(a, want)), 12)
		r.matches("B_at_c_min_minus_1", must[float64](t)(ErlangB(a, want-1)), 12)
	}
}

func TestOfferedLoadOracle(t *testing.T) {
	for _, r := range oracle(t, "erlang_b_offered_load") {
		r.matches("a_max", must[float64](t)(OfferedLoad(r.int("c"), r.float("target_B"))), 12)
	}
}

func TestPublishedChecks(t *testing.T) {
	for _, r := range oracle(t, "published_checks") {
		quantity := r.text("quantity")
		if quantity == "extErlB lines a0=5.5,B=.03,recall .5" {
			// Half of those shed try again: the load at the target is a0/(1 - B/2).
			r.matches("published", float64(must[int](t)(PermitsForShed(5.5/(1-0.5*0.03), 0.03))), 2)
			continue
		}
		c, x := r.int("c"), r.float("B_or_a")
		var got float64
		switch quantity {
		case "a_max":
			got = must[float64](t)(OfferedLoad(c, x))
		case "B":
			got = must[float64](t)(ErlangB(x, c))
		case "ln B":
			s, scale := inverseB(x, float64(c))
			got = -scale - math.Log(s)
		default:
			t.Fatalf("%s: unknown quantity %q", r.name, quantity)
		}
		r.matches("recomputed", got, min(printed(r.text("recomputed")), 12))
		r.matches("published", got, printed(r.text("published")))
	}
}

func TestReplicaSplitRandom(t *testing.T) {
	const column = "c_per_replica_for_B<=0.001"
	for _, r := range oracle(t, "replica_split_random") {
		got := must[int](t)(PermitsForShed(r.float("total_a")/r.float("replicas"), 0.001))
		if got != r.int(column) || got*r.int("replicas") != r.int("fleet_permits") {
			t.Errorf("%s: %d permits, want %d", r.name, got, r.int(column))
		}
	}
}

func TestTimeoutOracles(t *testing.T) {
	for _, r := range oracle(t, "timeout_blackhole_exact") {
		a := must[float64](t)(MeanInFlight(r.rat("rate"), ratInt(1), r.rat("timeout_s")))
		r.matches("a=rT", a, 12)
		b := must[float64](t)(ErlangB(a, r.int("cap")))
		r.matches("shed_fraction_erlangB", b, 12)
		r.matches("mean_slots_held", a*(1-b), 12)
		low, high, err := QueueShedBounds(a, r.int("cap"))
		if err != nil || !near(low, r.float("fluid_lower_bound"), 12) || high != b {
			t.Errorf("%s: bounds %v to %v, %v", r.name, low, high, err)
		}
	}
	for _, r := range oracle(t, "timeout_mix_load") {
		m := must[*big.Rat](t)(Retries{MaxAttempts: r.int("max_attempts"), FailureRatio: r.rat("timeout_fraction")}.Attempts(r.rat("rate")))
		r.matches("attempts", Float(m), 12)
		p, ok := r.rat("timeout_fraction"), r.rat("mean_ok_s")
		late := new(big.Rat).Mul(p, r.rat("timeout_s"))
		hold := late.Add(late, new(big.Rat).Mul(ok, new(big.Rat).Sub(ratInt(1), p)))
		r.matches("mean_hold_s", Float(hold), 12)
		a := must[float64](t)(MeanInFlight(r.rat("rate"), m, hold))
		r.matches("a", a, 12)
		r.matches("attempt_shed_erlangB", must[float64](t)(ErlangB(a, r.int("cap"))), 12)
	}
}

func TestRetryFixedPoint(t *testing.T) {
	// Failed attempts come back as load: at the printed fixed point the load, the
	// shed probability and the attempts must agree with one another.
	for _, r := range oracle(t, "retry_fixed_point") {
		b := must[float64](t)(ErlangB(r.float("a_effective"), r.int("c")))
		r.matches("per_attempt_shed", b, 11)
		r.matches("request_loss", math.Pow(b, r.float("max_attempts")), 10)
		m := must[*big.Rat](t)(Retries{MaxAttempts: r.int("max_attempts"), FailureRatio: r.rat("per_attempt_shed")}.Attempts(ratInt(1)))
		r.matches("multiplier", Float(m), 7)
	}
}

func TestExplainingOracles(t *testing.T) {
	for _, r := range oracle(t, "sqrt_staffing") {
		r.matches("B_exact", must[float64](t)(ErlangB(r.float("a"), r.int("c=ceil(a+beta*sqrt(a))"))), 12)
	}
	for _, r := range oracle(t, "rule_of_thumb_vs_erlang") {
		const permits = "c_rule=ceil(rate*p99)"
		d := Demand(r.rat("rate"), ratInt(1), r.rat("p99_s"))
		if got := must[int](t)(Permits(d, ratInt(1))); got != r.int(permits) {
			t.Errorf("%s: %d permits, want %d", r.name, got, r.int(permits))
		}
		r.matches("shed_prob_erlangB", must[float64](t)(ErlangB(r.float("a"), r.int(permits))), 9)
	}
}

// TestFieldCases holds the numbers of public reports on sizing by hand.
func TestFieldCases(t *testing.T) {
	for _, tc := range []struct {
		a      float64
		c      int
		want   string
		reason string
	}{
		{5, 10, "1.84%", "hystrix 2001: 20/s at 250 ms in a pool of 10, which its report measured as 2 %"},
		{10, 10, "21.46%", "hystrix 2001: at 500 ms, which its own arithmetic called safe"},
		{20, 30, "0.85%", "hystrix 1362: 30 threads at a mean of 100 ms, guessed at 4 %"},
		{6, 10, "4.31%", "hystrix wiki: 30/s, were the 200 ms a mean"},
	} {
		b := must[float64](t)(ErlangB(tc.a, tc.c))
		if got := fmt.Sprintf("%.2f%%", 100*b); got != tc.want {
			t.Errorf("B(%v, %d) is %s, want %s: %s", tc.a, tc.c, got, tc.want, tc.reason)
		}
	}
	for _, tc := range []struct {
		a, target float64
		want      int
		reason    string
	}{
		{5, 0.001, 14, "hystrix 2001: 0.1 % at 250 ms"},
		{10, 0.001, 21, "hystrix 2001: 0.1 % at 500 ms"},
		{20, 0.01, 30, "hystrix 1362: 1 %, guessed at 80"},
		{20, 0.001, 35, "hystrix 1362: 0.1 %"},
		{20, 0.0001, 39, "hystrix 1362: 0.01 %, where the rule of thumb says 100"},
	} {
		if got := must[int](t)(PermitsForShed(tc.a, tc.target)); got != tc.want {
			t.Errorf("%v erlangs to %v: %d permits, want %d: %s", tc.a, tc.target, got, tc.want, tc.reason)
		}
	}
}

func TestErlangBLimits(t *testing.T) {
	for _, tc := range []struct {
		a      float64
		c      int
		want   float64
		reason string
	}{
		{0, 0, 1, "no permits shed everything, even nothing"},
		{0, 5, 0, "no load sheds nothing"},
		{7, 0, 1, "no permits"},
		{1e-290, 1, 1e-290, "B(a,1) = a/(1+a), down to very small numbers"},
		{1e-200, 3, 0, "below the smallest number"},
		{1e30, 3, 1, "a load beyond all permits"},
		{1, MaxPermits, 0, "the largest cap"},
		{1e-300, MaxPermits, 0, "the largest cap and next to no load"},
	} {
		if got := must[float64](t)(ErlangB(tc.a, tc.c)); math.Abs(got-tc.want) > 1e-12*tc.want {
			t.Errorf("B(%v, %d) is %v, want %v: %s", tc.a, tc.c, got, tc.want, tc.reason)
		}
	}
}

func TestErlangErrors(t *testing.T) {
	for _, a := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1} {
		_, err := ErlangB(a, 3)
		wantError(t, err, "offered load")
		_, err = ErlangBTable(a, 3)
		wantError(t, err, "offered load")
		_, err = ErlangBContinuous(3, a)
		wantError(t, err, "permits")
		_, err = PermitsForShed(a, 0.1)
		wantError(t, err, "offered load")
		_, err = Hayward(a, 3, 1)
		wantError(t, err, "offered load")
		_, err = Hayward(3, 3, a)
		wantError(t, err, "peakedness")
		_, err = PermitsForShedPeaked(a, 1, 0.1)
		wantError(t, err, "offered load")
	}
	for _, target := range []float64{math.NaN(), 0, 1, -0.1, 1.1} {
		_, err := PermitsForShed(1, target)
		wantError(t, err, "target shed")
		_, err = OfferedLoad(1, target)
		wantError(t, err, "target shed")
		_, err = PermitsForShedPeaked(1, 1, target)
		wantError(t, err, "target shed")
	}
	_, err := ErlangB(1e31, 1)
	wantError(t, err, "check the unit")
	_, err = ErlangB(1, 2*MaxPermits+1)
	wantError(t, err, "check the unit")
	_, err = ErlangB(1, -1)
	wantError(t, err, "permits is -1")
	_, err = ErlangBTable(1, 2*MaxPermits+1)
	wantError(t, err, "check the unit")
	_, err = ErlangBContinuous(1, 1e300)
	wantError(t, err, "check the unit")
	_, err = PermitsForShed(1e30, 0.5)
	wantError(t, err, "check the unit")
	_, err = PermitsForShed(1.0005e6, 1e-4)
	wantError(t, err, "check the unit")
	_, err = PermitsForShedPeaked(1e30, 2, 0.5)
	wantError(t, err, "check the unit")
	_, err = PermitsForShedPeaked(1, 1e-9, 0.5)
	wantError(t, err, "peakedness")
	_, err = OfferedLoad(0, 0.5)
	wantError(t, err, "permits is 0")
}

func TestErlangBProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a := math.Exp(rng.Float64()*16 - 6)
		c := 1 + rng.IntN(3000)
		b := must[float64](t)(ErlangB(a, c))
		table := must[[]float64](t)(ErlangBTable(a, c))
		if b > 1e-290 && math.Abs(table[c]-b) > 1e-12*b {
			t.Fatalf("B(%v,%d): %v unrolled, %v by the table", a, c, b, table[c])
		}
		if b < max(0, 1-float64(c)/a)-1e-15 || b > 1 {
			t.Fatalf("B(%v,%d) = %v is outside its bounds", a, c, b)
		}
		if less := must[float64](t)(ErlangB(a, c+1)); less > b {
			t.Fatalf("B(%v,%d) = %v rises to %v with one permit more", a, c, b, less)
		}
		if more := must[float64](t)(ErlangB(a*1.01, c)); more < b {
			t.Fatalf("B(%v,%d) = %v falls to %v with more load", a, c, b, more)
		}
		f := rng.Float64()
		between, next := erlangB(a, float64(c)+f), erlangB(a, float64(c+1))
		if between > b*(1+1e-12) || between < next*(1-1e-12) {
			t.Fatalf("B(%v,%v) = %v is not between %v and %v", a, float64(c)+f, between, b, next)
		}
	}
}

func TestErlangInversesAreInverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		c := 1 + rng.IntN(2000)
		target := math.Exp(-rng.Float64() * 20)
		a, err := OfferedLoad(c, target)
		if err != nil {
			t.Fatal(err)
		}
		if got := must[float64](t)(ErlangB(a, c)); math.Abs(got-target) > 1e-10*target {
			t.Fatalf("B(OfferedLoad(%d, %v)) = %v", c, target, got)
		}
		if got := must[int](t)(PermitsForShed(a*(1-1e-9), target)); got != c {
			t.Fatalf("PermitsForShed(OfferedLoad(%d, %v)) = %d", c, target, got)
		}
		if got := must[int](t)(PermitsForShed(a*(1+1e-9), target)); got != c+1 {
			t.Fatalf("PermitsForShed just above OfferedLoad(%d, %v) = %d", c, target, got)
		}
	}
	for _, c := range []int{1, MaxPermits} {
		for _, target := range []float64{1e-300, 1e-9, 0.5, 1 - 1e-9} {
			a := must[float64](t)(OfferedLoad(c, target))
			if got := must[float64](t)(ErlangB(a, c)); math.Abs(got-target) > 1e-8*target {
				t.Errorf("B(OfferedLoad(%d, %v) = %v) = %v", c, target, a, got)
			}
		}
	}
}

func TestHaywardOracle(t *testing.T) {
	for _, r := range oracle(t, "hayward") {
		a, z, c := r.float("a"), r.float("z"), r.float("c")
		b := must[float64](t)(Hayward(a, c, z))
		r.matches("B", b, 12)
		if got := must[int](t)(PermitsForShedPeaked(a, z, b*(1+1e-9))); got != int(c) {
			t.Errorf("%s: %d permits for the shed of %v", r.name, got, c)
		}
	}
	for _, r := range oracle(t, "batch_arrivals_hayward_vs_sim") {
		r.matches("hayward", must[float64](t)(Hayward(r.float("a"), r.float("c"), r.float("z"))), 10)
	}
	for _, r := range oracle(t, "hayward_vs_exact_overflow") {
		r.matches("hayward", must[float64](t)(Hayward(r.float("m"), r.float("c_secondary"), r.float("z"))), 10)
	}
}

func TestPeakednessCostsPermits(t *testing.T) {
	last := 0
	for _, z := range []float64{0.5, 1, 1.5, 2, 3, 5, 10} {
		got := must[int](t)(PermitsForShedPeaked(20, z, 0.001))
		if got <= last {
			t.Errorf("%d permits at peakedness %v, %d below it", got, z, last)
		}
		last = got
	}
}

func TestShedOverWindowOracle(t *testing.T) {
	for _, r := range oracle(t, "psa_mixture") {
		rates, hold, c := r.floats("per_minute_rates_rps"), r.float("mean_service_s"), r.int("c")
		got := must[float64](t)(ShedOverWindow(rates, hold, c))
		r.matches("traffic_weighted_shed=sum(r_i*B_i)/sum(r_i)", got, 12)
		at := func(rate float64) float64 { return must[float64](t)(ShedOverWindow([]float64{rate}, hold, c)) }
		sum, busiest := 0.0, 0.0
		for _, rate := range rates {
			sum += rate
			busiest = max(busiest, rate)
		}
		r.matches("B_at_mean_rate", at(sum/float64(len(rates))), 12)
		r.matches("B_at_busiest_minute", at(busiest), 12)
	}
}

func TestShedOverWindowErrors(t *testing.T) {
	for _, tc := range []struct {
		rates  []float64
		hold   float64
		c      int
		want   string
		reason string
	}{
		{nil, 1, 1, "no slot", "an empty window has no share"},
		{[]float64{0, 0}, 1, 1, "no slot", "0/0"},
		{[]float64{1, math.NaN()}, 1, 1, "rate", "a NaN would spoil the sum"},
		{[]float64{1, -1}, 1, 1, "rate", "negative"},
		{[]float64{1}, math.Inf(1), 1, "mean hold", "infinite"},
		{[]float64{1}, 1, 0, "permits is 0", "no permits"},
		{[]float64{1e300}, 1e300, 1, "offered load", "the product overflows"},
	} {
		_, err := ShedOverWindow(tc.rates, tc.hold, tc.c)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: %v, want %q: %s", tc.rates, err, tc.want, tc.reason)
		}
	}
	if got := must[float64](t)(ShedOverWindow([]float64{1e308, 1e308}, 1e-308, 1)); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("two enormous rates: %v, want B(1,1) = 0.5 without overflow", got)
	}
}

func BenchmarkErlangBMillion(b *testing.B) {
	for b.Loop() {
		if _, err := ErlangB(1e6, 1_000_000); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkErlangBTableMillion(b *testing.B) {
	for b.Loop() {
		if _, err := ErlangBTable(1e6, 1_000_000); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPermitsForShed(b *testing.B) {
	for _, a := range []float64{5, 500, 50_000, 980_000} {
		b.Run(fmt.Sprint(a), func(b *testing.B) {
			for b.Loop() {
				if _, err := PermitsForShed(a, 1e-4); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkOfferedLoadMillion(b *testing.B) {
	for b.Loop() {
		if _, err := OfferedLoad(1_000_000, 1e-4); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkShedOverWindow(b *testing.B) {
	rates := make([]float64, 1400)
	for i := range rates {
		rates[i] = 200 + 100*math.Sin(float64(i)/15)
	}
	for b.Loop() {
		if _, err := ShedOverWindow(rates, 0.1, 45); err != nil {
			b.Fatal(err)
		}
	}
}
