package sizing

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestOvercommitOracle(t *testing.T) {
	for _, r := range oracle(t, "overcommit") {
		caps, loads := r.ints("caps"), r.floats("a")
		var all []Load
		for i, c := range caps {
			all = append(all, Load{A: loads[i], Permits: c})
		}
		limit := r.int("limit")
		atLeast, above, err := ProbabilityFull(all, limit)
		if stalled := "one black-holed (search full at 38), others a=cap/2"; r.text("case") == stalled {
			all = append(all, Load{A: 19, Permits: 38})
			atLeast, above, err = ProbabilityFullStalled(all, len(all)-1, limit)
		}
		if err != nil {
			t.Fatal(err)
		}
		r.matches("P(in_use>=limit)", atLeast, 12)
		r.matches("P(in_use>limit)_exact", above, 12)
	}
}

func TestTruncatedPoissonIsErlangB(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range 500 {
		l := Load{A: math.Exp(rng.Float64()*11 - 3), Permits: 1 + rng.IntN(2000)}
		full, above, err := ProbabilityFull([]Load{l}, l.Permits)
		if err != nil || above != 0 {
			t.Fatalf("%+v: above its own permits with %v, %v", l, above, err)
		}
		if b := must[float64](t)(ErlangB(l.A, l.Permits)); math.Abs(full-b) > 1e-11*b+1e-30 {
			t.Fatalf("%+v: full with %v, Erlang B is %v", l, full, b)
		}
	}
}

func TestProbabilityFullProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for range 300 {
		var loads []Load
		sum := 0
		for range 1 + rng.IntN(6) {
			l := Load{A: rng.Float64() * 30, Permits: 1 + rng.IntN(40)}
			loads = append(loads, l)
			sum += l.Permits
		}
		last := 1.0
		for limit := 0; limit <= sum; limit++ {
			atLeast, above, err := ProbabilityFull(loads, limit)
			if err != nil || atLeast > last*(1+1e-12) || above > atLeast || math.Abs(atLeast-last) > 1e-12 && limit > 0 && atLeast > last {
				t.Fatalf("%v at %d: %v, above %v, after %v, %v", loads, limit, atLeast, above, last, err)
			}
			last = above
			stalled, _, err := ProbabilityFullStalled(loads, 0, limit)
			if err != nil || stalled < atLeast*(1-1e-12) {
				t.Fatalf("%v at %d: %v, with a stall only %v, %v", loads, limit, atLeast, stalled, err)
			}
		}
		if last != 0 {
			t.Fatalf("%v: above the sum of permits with %v", loads, last)
		}
	}
}

func TestProbabilityFullEdges(t *testing.T) {
	some := []Load{{A: 2, Permits: 4}}
	for _, tc := range []struct {
		loads   []Load
		limit   int
		atLeast float64
		above   float64
		reason  string
	}{
		{nil, 0, 1, 0, "nobody draws: in use is 0"},
		{nil, 1, 0, 0, "nobody draws"},
		{some, -5, 1, 1, "a pool of less than nothing is always full"},
		{some, math.MinInt, 1, 1, "no overflow"},
		{some, math.MaxInt, 0, 0, "no overflow"},
		{[]Load{{A: 0, Permits: 4}}, 1, 0, 0, "no load"},
		{[]Load{{A: 1e30, Permits: 4}}, 4, 1, 0, "an absurd load holds all its permits"},
	} {
		atLeast, above, err := ProbabilityFull(tc.loads, tc.limit)
		if err != nil || math.Abs(atLeast-tc.atLeast) > 1e-12 || math.Abs(above-tc.above) > 1e-12 {
			t.Errorf("%v at %d: %v and %v, %v; want %v and %v: %s", tc.loads, tc.limit, atLeast, above, err, tc.atLeast, tc.above, tc.reason)
		}
	}
	if atLeast, _, err := ProbabilityFullStalled(some, 0, math.MinInt); err != nil || atLeast != 1 {
		t.Errorf("a stall beside a limit of MinInt: %v, %v", atLeast, err)
	}
	_, _, err := ProbabilityFull([]Load{{A: math.NaN(), Permits: 1}}, 1)
	wantError(t, err, "offered load")
	_, _, err = ProbabilityFull([]Load{{A: 1, Permits: 0}}, 1)
	wantError(t, err, "permits is 0")
	_, _, err = ProbabilityFullStalled(some, 1, 1)
	wantError(t, err, "load 1 of 1")
	_, _, err = ProbabilityFullStalled([]Load{{A: 1}}, 0, 1)
	wantError(t, err, "permits is 0")
	huge := make([]Load, 10)
	for i := range huge {
		huge[i] = Load{A: 9e5, Permits: 1_000_000}
	}
	_, _, err = ProbabilityFull(huge, 1)
	wantError(t, err, "too large to convolve")
}

func BenchmarkProbabilityFull(b *testing.B) {
	loads := make([]Load, 500)
	for i := range loads {
		loads[i] = Load{A: 5 + float64(i%30), Permits: 20 + i%60}
	}
	for b.Loop() {
		if _, _, err := ProbabilityFull(loads, 12000); err != nil {
			b.Fatal(err)
		}
	}
}
