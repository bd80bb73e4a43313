package sizing

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestRetryMultiplierOracle(t *testing.T) {
	for _, r := range oracle(t, "retry_multiplier") {
		n, p := r.int("max_attempts"), r.rat("p")
		got := must[*big.Rat](t)(Retries{MaxAttempts: n, FailureRatio: p}.Attempts(ratInt(100)))
		if got.Cmp(r.rat("expected_attempts_exact")) != 0 {
			t.Errorf("%s: %v attempts, want %s", r.name, got, r.text("expected_attempts_exact"))
		}
		r.matches("expected_attempts", Float(got), 15)
		r.matches("P_all_fail", math.Pow(Float(p), float64(n)), 14)
	}
}

func TestRetryLayersOracle(t *testing.T) {
	for _, r := range oracle(t, "retry_layers") {
		n := r.int("attempts_per_layer")
		layers := make([]int, r.int("layers")-1)
		for i := range layers {
			layers[i] = n
		}
		got := must[int64](t)(Retries{MaxAttempts: n, Layers: layers}.WorstAttempts())
		if got != int64(r.int("worst_case_attempts")) {
			t.Errorf("%s: %d attempts", r.name, got)
		}
	}
}

func TestAttempts(t *testing.T) {
	x := func(s string) *big.Rat { return rat(t, s) }
	for _, tc := range []struct {
		name         string
		r            Retries
		rate         string
		want, stall  string
		worst        int64
		unbudgeted   bool
		whyItMatters string
	}{
		{"zero value", Retries{}, "100", "1", "1", 1, false, "no retries"},
		{"one attempt", Retries{MaxAttempts: 1}, "100", "1", "1", 1, false, "the first call counts"},
		{"nothing known", Retries{MaxAttempts: 4}, "100", "4", "4", 4, true, "3 retries is 4, and a finding says that nothing bounds them"},
		{"budget", Retries{MaxAttempts: 4, BudgetRatio: x("0.2")}, "100", "1.2", "1.2", 4, false, "1 + ratio"},
		{"budget and minimum", Retries{MaxAttempts: 2, BudgetRatio: x("0.2"), BudgetMinPerSecond: x("10")}, "150", "19/15", "19/15", 2, false, "1 + 0.2 + 10/150"},
		{"minimum at a low rate", Retries{MaxAttempts: 3, BudgetRatio: x("0.2"), BudgetMinPerSecond: x("10")}, "1", "3", "3", 3, false, "the minimum allows 10 retries a second, more than there are"},
		{"minimum alone", Retries{MaxAttempts: 3, BudgetMinPerSecond: x("10")}, "100", "1.1", "1.1", 3, false, "a budget without a share"},
		{"budget at no rate", Retries{MaxAttempts: 3, BudgetRatio: x("0.2"), BudgetMinPerSecond: x("10")}, "0", "3", "3", 3, false, "10/0 bounds nothing"},
		{"budget without minimum at no rate", Retries{MaxAttempts: 3, BudgetRatio: x("0.2"), BudgetMinPerSecond: x("0")}, "0", "1.2", "1.2", 3, false, "0/0 is no minimum"},
		{"generous budget", Retries{MaxAttempts: 2, BudgetRatio: x("3")}, "100", "2", "2", 2, false, "never above n"},
		{"failure ratio", Retries{MaxAttempts: 3, FailureRatio: x("0.1")}, "100", "1.11", "3", 3, false, "in a stall every attempt fails"},
		{"all fail", Retries{MaxAttempts: 3, FailureRatio: x("1")}, "100", "3", "3", 3, false, "(1-p^n)/(1-p) has its limit at 1"},
		{"both, budget smaller", Retries{MaxAttempts: 3, FailureRatio: x("0.5"), BudgetRatio: x("0.2")}, "100", "1.2", "1.2", 3, false, "the smaller"},
		{"both, ratio smaller", Retries{MaxAttempts: 3, FailureRatio: x("0.1"), BudgetRatio: x("0.2")}, "100", "1.11", "1.2", 3, false, "the smaller"},
		{"layers", Retries{MaxAttempts: 3, Layers: []int{3, 2}}, "100", "18", "18", 18, true, "layers multiply"},
		{"layers only", Retries{Layers: []int{2}}, "100", "2", "2", 2, true, "the mesh retries, the client does not"},
		{"layers and budget", Retries{MaxAttempts: 3, BudgetRatio: x("0.2"), Layers: []int{2}}, "100", "2.4", "2.4", 6, false, "the budget bounds its own layer only"},
		{"layers and failure ratio", Retries{MaxAttempts: 2, FailureRatio: x("0.5"), Layers: []int{2}}, "100", "1.875", "4", 4, false, "n in the sum is the product"},
		{"envoy 24937", Retries{MaxAttempts: 3, BudgetRatio: x("0.2")}, "100000", "1.2", "1.2", 3, false, "a 20 % budget makes 120,000/s of 100,000/s, not 300,000"},
		{"envoy 24937, min_retry_concurrency", Retries{MaxAttempts: 3, BudgetRatio: x("0.2"), BudgetMinPerSecond: x("75")}, "10", "3", "3", 3, false, "75 retries a second and caller never bite at 10/s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := must[*big.Rat](t)(tc.r.Attempts(x(tc.rate)))
			stall := must[*big.Rat](t)(tc.r.StallAttempts(x(tc.rate)))
			worst := must[int64](t)(tc.r.WorstAttempts())
			if got.Cmp(x(tc.want)) != 0 || stall.Cmp(x(tc.stall)) != 0 || worst != tc.worst || tc.r.Unbudgeted() != tc.unbudgeted {
				t.Errorf("attempts %v, stall %v, worst %d, unbudgeted %v; want %s, %s, %d, %v: %s",
					got, stall, worst, tc.r.Unbudgeted(), tc.want, tc.stall, tc.worst, tc.unbudgeted, tc.whyItMatters)
			}
		})
	}
}

func TestAttemptsErrors(t *testing.T) {
	x := func(s string) *big.Rat { return rat(t, s) }
	for _, tc := range []struct {
		r    Retries
		rate *big.Rat
		want string
	}{
		{Retries{MaxAttempts: -1}, ratInt(1), "max_attempts is -1"},
		{Retries{FailureRatio: x("1.1")}, ratInt(1), "failure_ratio is 1.1"},
		{Retries{FailureRatio: x("-0.1")}, ratInt(1), "failure_ratio is -0.1"},
		{Retries{BudgetRatio: x("-1")}, ratInt(1), "budget ratio is -1"},
		{Retries{BudgetMinPerSecond: x("-1")}, ratInt(1), "min_per_second is -1"},
		{Retries{Layers: []int{0}}, ratInt(1), "layer has 0 attempts"},
		{Retries{MaxAttempts: math.MaxInt, Layers: []int{2}}, ratInt(1), "more attempts than can be counted"},
		{Retries{BudgetRatio: x("1")}, nil, "rate is missing"},
		{Retries{BudgetRatio: x("1")}, x("-3"), "rate is -3"},
	} {
		_, err := tc.r.Attempts(tc.rate)
		wantError(t, err, tc.want)
		if tc.rate != nil && tc.r.BudgetRatio == nil {
			_, err = tc.r.WorstAttempts()
			wantError(t, err, tc.want)
		}
	}
	if !(Retries{MaxAttempts: math.MaxInt, Layers: []int{2}}).Unbudgeted() {
		t.Error("attempts beyond counting are unbudgeted")
	}
}

// TestManyAttempts holds that an enormous number of attempts costs no memory.
func TestManyAttempts(t *testing.T) {
	for _, tc := range []struct {
		n    int
		p    string
		want float64
		why  string
	}{
		{1_000_000_000, "0.01", 1 / 0.99, "p^n is gone"},
		{1_000_000_000, "0", 1, "nothing fails"},
		{1_000_000_000, "1", 1e9, "everything fails"},
		{1_000_000, "0.999999", 632120.742768, "(1 - p^n)/(1 - p) with p^n about 1/e"},
		{1_000_000, "0.9999999999999999999999999", 1e6, "so close to 1 that n is the sum"},
	} {
		got := must[*big.Rat](t)(Retries{MaxAttempts: tc.n, FailureRatio: rat(t, tc.p)}.Attempts(ratInt(1)))
		if x := Float(got); math.Abs(x-tc.want) > 1e-10*tc.want {
			t.Errorf("n %d, p %s: %.12g, want %.12g: %s", tc.n, tc.p, x, tc.want, tc.why)
		}
	}
}

func TestAttemptsProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		n := 1 + rng.IntN(8)
		p := big.NewRat(rng.Int64N(101), 100)
		r := Retries{MaxAttempts: n, FailureRatio: p, BudgetRatio: big.NewRat(rng.Int64N(50), 20), BudgetMinPerSecond: big.NewRat(rng.Int64N(20), 1)}
		rate := big.NewRat(1+rng.Int64N(1000), 7)
		m := must[*big.Rat](t)(r.Attempts(rate))
		if m.Cmp(ratInt(1)) < 0 || m.Cmp(ratInt(n)) > 0 {
			t.Fatalf("%+v at %v: %v attempts, outside 1 to n", r, rate, m)
		}
		if stall := must[*big.Rat](t)(r.StallAttempts(rate)); m.Cmp(stall) > 0 {
			t.Fatalf("%+v at %v: %v attempts, above %v in a stall", r, rate, m, stall)
		}
		up := r
		up.MaxAttempts++
		if more := must[*big.Rat](t)(up.Attempts(rate)); more.Cmp(m) < 0 {
			t.Fatalf("%+v at %v: one more attempt allowed makes fewer", r, rate)
		}
		if n > 1 {
			exact := must[*big.Rat](t)(expectedAttempts(p, int64(n)))
			rounded := must[*big.Rat](t)(roundedAttempts(p, int64(n)))
			if p.Cmp(ratInt(1)) < 0 && math.Abs(Float(exact)-Float(rounded)) > 1e-10*Float(exact) {
				t.Fatalf("p %v, n %d: %v exact, %v rounded", p, n, exact, rounded)
			}
		}
	}
}

func TestUnmeasured(t *testing.T) {
	for _, tc := range []struct{ attempts, observed, want, reason string }{
		{"1.2", "1", "1.2", "the series counts calls, or no retry was seen"},
		{"1.2", "1.1", "12/11", "a tenth is in the measurement already"},
		{"1.2", "1.5", "1", "more were seen than allowed for: never below 1"},
	} {
		got := must[*big.Rat](t)(Unmeasured(rat(t, tc.attempts), rat(t, tc.observed)))
		if got.Cmp(rat(t, tc.want)) != 0 {
			t.Errorf("%s seen %s: %v, want %s: %s", tc.attempts, tc.observed, got, tc.want, tc.reason)
		}
	}
	_, err := Unmeasured(ratInt(2), rat(t, "0.5"))
	wantError(t, err, "observed attempts per call is 0.5")
	_, err = Unmeasured(nil, ratInt(1))
	wantError(t, err, "attempts is missing")
}
