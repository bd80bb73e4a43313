package sizing

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestPermits(t *testing.T) {
	for _, tc := range []struct {
		rate, latency, headroom string
		want                    int
		reason                  string
	}{
		{"100", "120ms", "1", 12, "published: 100/s at 120 ms"},
		{"100", "120ms", "33%", 16, "published: with a third of headroom, 15.96"},
		{"300", "50ms", "2", 30, "published: 300/s at 50 ms, doubled"},
		{"300", "50ms", "1", 15, "published: its p99 demand"},
		{"100", "150ms", "60%", 24, "published: 100/s at 150 ms with 60 %"},
		{"50", "140ms", "1", 7, "exactly 7, where float64 says 8"},
		{"100", "10s", "1", 1000, "published: against a 10 s connect timeout"},
		{"200", "500ms", "1", 100, "hystrix 1362: the rule of thumb"},
		{"60000", "17.1ms", "1", 1026, "kgateway 609: above Envoy's 1024 from 17.1 ms on"},
		{"60000", "17.06ms", "1", 1024, "kgateway 609: 1023.6 just fits"},
		{"2600", "394ms", "1", 1025, "istio 18995: 2600/s fill 1024 at 394 ms"},
		{"10", "0.04s", "1", 1, "envoy 24937: a load of 0.4 needs 1"},
		{"0", "50ms", "2", 1, "no traffic still gets one permit"},
		{"1000000", "1s", "1", MaxPermits, "the largest"},
	} {
		h := must[Headroom](t)(ParseHeadroom(tc.headroom))
		d := Demand(rat(t, tc.rate), ratInt(1), must[*big.Rat](t)(ParseDuration(tc.latency)))
		if got := must[int](t)(Permits(d, h.Factor)); got != tc.want {
			t.Errorf("%s/s at %s %v: %d permits, want %d: %s", tc.rate, tc.latency, h, got, tc.want, tc.reason)
		}
	}
}

func TestPermitsErrors(t *testing.T) {
	two := ratInt(2)
	for _, tc := range []struct {
		demand, headroom *big.Rat
		want             string
	}{
		{nil, two, "demand is missing"},
		{Demand(nil, two, two), two, "demand is missing"},
		{two, nil, "headroom is missing"},
		{rat(t, "-1"), two, "demand is -1"},
		{two, rat(t, "0.99"), "headroom is 0.99"},
		{rat(t, "500000.1"), two, "check the unit"},
		{rat(t, "1e300"), two, "check the unit"},
	} {
		_, err := Permits(tc.demand, tc.headroom)
		wantError(t, err, tc.want)
	}
}

func TestCeilHazards(t *testing.T) {
	for _, r := range oracle(t, "ceil_hazards") {
		latency := r.rat("latency_ms")
		d := Demand(r.rat("rate"), r.rat("multiplier"), latency.Quo(latency, ratInt(1000)))
		if got := must[int](t)(Permits(d, r.rat("headroom"))); got != r.int("exact_ceil") {
			t.Errorf("%s: %d permits, want %d", r.name, got, r.int("exact_ceil"))
		}
	}
}

func TestGoldenPublishedSizing(t *testing.T) {
	const want, final = "ceil(rate*latency*headroom)", "erlangB_if_latency_were_the_mean_and_cap=published_final"
	for _, r := range oracle(t, "golden_published_sizing") {
		d := Demand(r.rat("rate_rps"), ratInt(1), r.rat("latency_s"))
		if got := must[int](t)(Permits(d, r.rat("headroom"))); got != r.int(want) {
			t.Errorf("%s: %s: %d permits, want %d", r.name, r.text("id"), got, r.int(want))
		}
		a := must[float64](t)(MeanInFlight(r.rat("rate_rps"), ratInt(1), r.rat("latency_s")))
		r.matches(final, must[float64](t)(ErlangB(a, r.int("published_final"))), 6)
	}
}

func TestCeil(t *testing.T) {
	for _, tc := range []struct {
		x    string
		want int
	}{{"0", 0}, {"7", 7}, {"7.000000000001", 8}, {"6.999", 7}, {"-0.5", 0}, {"-1.5", -1}, {"9223372036854775807", math.MaxInt64}} {
		if got := must[int](t)(Ceil(rat(t, tc.x))); got != tc.want {
			t.Errorf("Ceil(%s) is %d, want %d", tc.x, got, tc.want)
		}
	}
	_, err := Ceil(nil)
	wantError(t, err, "missing")
	_, err = Ceil(rat(t, "9223372036854775807.5"))
	wantError(t, err, "too large")
}

func TestMeanInFlight(t *testing.T) {
	a := must[float64](t)(MeanInFlight(ratInt(300), rat(t, "1.2"), rat(t, "0.02")))
	if math.Abs(a-7.2) > 1e-12 {
		t.Errorf("300/s x 1.2 x 20 ms is %v erlangs, want 7.2", a)
	}
	_, err := MeanInFlight(ratInt(1), ratInt(1), nil)
	wantError(t, err, "mean hold is missing")
	_, err = MeanInFlight(rat(t, "-1"), ratInt(1), ratInt(1))
	wantError(t, err, "rate is -1")
	_, err = MeanInFlight(rat(t, "1e200"), ratInt(1), rat(t, "1e200"))
	wantError(t, err, "mean in flight is +Inf")
}

func TestPermitsProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		d := big.NewRat(rng.Int64N(100000), 1+rng.Int64N(1000))
		h := new(big.Rat).Add(ratInt(1), big.NewRat(rng.Int64N(300), 100))
		n := must[int](t)(Permits(d, h))
		want := new(big.Rat).Mul(d, h)
		if ratInt(n).Cmp(want) < 0 || n > 1 && ratInt(n-1).Cmp(want) >= 0 {
			t.Fatalf("Permits(%v, %v) = %d is not the ceiling of %v", d, h, n, want)
		}
	}
}
