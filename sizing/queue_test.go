package sizing

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMMCKOracle(t *testing.T) {
	for _, r := range oracle(t, "mmck") {
		q := must[QueueLength](t)(MMCK(r.float("a"), r.int("c"), r.int("queue_places")))
		r.matches("P_reject", q.Reject, 12)
		r.matches("mean_queue_length", q.MeanQueue, 12)
		r.matches("mean_wait_of_accepted_in_units_of_mean_service", q.MeanWait, 12)
		r.matches("P_wait_given_accepted", q.WaitGivenAccepted, 12)
	}
}

func TestMMCDOracle(t *testing.T) {
	for _, r := range oracle(t, "mmc_plus_D") {
		q := must[QueueTimeout](t)(MMCD(r.float("a"), r.int("c"), r.float("tau_over_mean_service")))
		r.matches("P_reject", q.Reject, 12)
		r.matches("P_wait_and_served", q.WaitAndServed, 12)
		r.matches("mean_wait_of_served", q.MeanWait, 12)
		r.matches("mean_time_in_queue_all_arrivals", q.MeanInQueue, 12)
		r.matches("upper_bound_erlangB", q.High, 12)
		r.matches("lower_bound_fluid", q.Low, 12)
	}
}

// TestMMCDSimulated compares with the theory column of the simulations, which
// the exponential rows confirm and the others show to be an estimate.
func TestMMCDSimulated(t *testing.T) {
	for _, r := range oracle(t, "des_validation") {
		q := must[QueueTimeout](t)(MMCD(r.float("a"), r.int("c"), r.float("tau")))
		if !near(q.Reject, r.float("theory_reject"), 6) && math.Abs(q.Reject-r.float("theory_reject")) > 5e-9 {
			t.Errorf("%s: reject %v", r.name, q.Reject)
		}
		if math.Abs(q.MeanWait-r.float("theory_wait")) > 5e-9 {
			t.Errorf("%s: wait %v", r.name, q.MeanWait)
		}
		exact := r.text("service") == "exp" && r.text("arrivals") == "poisson"
		if miss := math.Abs(q.Reject - r.float("sim_reject")); exact && miss > 3*r.float("ci95_halfwidth") {
			t.Errorf("%s: reject %v is not what was simulated", r.name, q.Reject)
		}
	}
}

// TestErlangAIsWithinBounds holds that waiters of exponential patience (M/M/c+M)
// keep to the bounds that hold for any queue.
func TestErlangAIsWithinBounds(t *testing.T) {
	for _, r := range oracle(t, "erlang_a") {
		low, high, err := QueueShedBounds(r.float("a"), r.int("c"))
		if p := r.float("P_abandon"); err != nil || p < low || p > high {
			t.Errorf("%s: %v is outside %v to %v, %v", r.name, p, low, high, err)
		}
	}
}

func TestQueueExtremes(t *testing.T) {
	for _, tc := range []struct {
		a      float64
		c      int
		tau    float64
		low    float64
		high   float64
		reason string
	}{
		{0, 5, 1, 0, 0, "no load"},
		{1e-300, 5, 1, 0, 1e-300, "next to no load"},
		{1, MaxPermits, 1, 0, 1e-300, "far too many permits"},
		{20, 10, 1e9, 0.5, 0.5, "overload and an endless timeout: 1 - c/a, without overflow"},
		{10, 10, 1e9, 0, 1e-9, "exactly at capacity and an endless timeout"},
		{5, 10, 1e9, 0, 1e-300, "an endless timeout rejects nobody"},
		{1e30, 10, 1, 1, 1, "the largest load"},
		{1e6, MaxPermits, 1e-9, 0.00079, 0.0008, "the largest cap and next to no wait"},
		{9.99999999, 10, 0.5, 0.1035, 0.1036, "next to capacity nothing cancels"},
	} {
		q := must[QueueTimeout](t)(MMCD(tc.a, tc.c, tc.tau))
		if !(q.Reject >= tc.low*(1-1e-9) && q.Reject <= tc.high*(1+1e-9)) || !finite(q.MeanWait, q.MeanInQueue, q.WaitAndServed) {
			t.Errorf("MMCD(%v, %d, %v) is %+v, want reject in %v to %v: %s", tc.a, tc.c, tc.tau, q, tc.low, tc.high, tc.reason)
		}
		k := must[QueueLength](t)(MMCK(tc.a, tc.c, 1_000_000))
		if !finite(k.Reject, k.MeanQueue, k.MeanWait, k.WaitGivenAccepted) {
			t.Errorf("MMCK(%v, %d, 1e6) is %+v: %s", tc.a, tc.c, k, tc.reason)
		}
	}
}

func finite(xs ...float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return false
		}
	}
	return true
}

func TestQueueProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 3000 {
		a := math.Exp(rng.Float64()*9 - 2)
		c := 1 + rng.IntN(int(2*a)+5)
		tau := math.Exp(rng.Float64()*10 - 7)
		places := rng.IntN(200)
		d := must[QueueTimeout](t)(MMCD(a, c, tau))
		k := must[QueueLength](t)(MMCK(a, c, places))
		const slack = 1e-12
		for _, reject := range []float64{d.Reject, k.Reject} {
			if reject < d.Low-slack || reject > d.High+slack {
				t.Fatalf("a %v, c %d, tau %v, places %d: reject %v is outside %v to %v", a, c, tau, places, reject, d.Low, d.High)
			}
		}
		if d.MeanWait > tau*(1+slack) || d.WaitAndServed > 1+slack || k.WaitGivenAccepted > 1+slack || k.MeanQueue > float64(places)*(1+slack) {
			t.Fatalf("a %v, c %d, tau %v, places %d: %+v, %+v", a, c, tau, places, d, k)
		}
		longer := must[QueueTimeout](t)(MMCD(a, c, 1.1*tau))
		more := must[QueueLength](t)(MMCK(a, c, places+1))
		wider := must[QueueTimeout](t)(MMCD(a, c+1, tau))
		if longer.Reject > d.Reject*(1+slack) || more.Reject > k.Reject*(1+slack) || wider.Reject > d.Reject*(1+slack) {
			t.Fatalf("a %v, c %d, tau %v, places %d: more room rejects more", a, c, tau, places)
		}
		busier := must[QueueTimeout](t)(MMCD(1.1*a, c, tau))
		if busier.Reject < d.Reject*(1-slack) {
			t.Fatalf("a %v, c %d, tau %v: more load rejects less", a, c, tau)
		}
	}
}

func TestNoQueueIsErlangB(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 1000 {
		a, c := math.Exp(rng.Float64()*9-2), 1+rng.IntN(500)
		b := must[float64](t)(ErlangB(a, c))
		k := must[QueueLength](t)(MMCK(a, c, 0))
		d := must[QueueTimeout](t)(MMCD(a, c, 0))
		if math.Abs(k.Reject-b) > 1e-11*b+1e-300 || math.Abs(d.Reject-b) > 1e-11*b+1e-300 || k.MeanWait != 0 || d.MeanWait != 0 {
			t.Fatalf("a %v, c %d: B is %v, without queue places %+v, without timeout %+v", a, c, b, k, d)
		}
	}
}

func TestQueueGrowth(t *testing.T) {
	for _, tc := range []struct {
		rate    float64
		permits int
		hold    float64
		want    float64
		reason  string
	}{
		{350, 20, 0.1, 150, "published: 350/s into 200/s"},
		{200, 20, 0.1, 0, "exactly at capacity, on average"},
		{100, 20, 0.1, 0, "an idle queue does not shrink below nothing"},
		{100, 20, 0, 0, "calls that take no time never queue"},
	} {
		if got := must[float64](t)(QueueGrowth(tc.rate, tc.permits, tc.hold)); math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("%v/s into %d permits at %v s grows %v/s, want %v: %s", tc.rate, tc.permits, tc.hold, got, tc.want, tc.reason)
		}
	}
}

func TestQueueErrors(t *testing.T) {
	for _, a := range []float64{math.NaN(), math.Inf(1), -1} {
		_, err := MMCK(a, 1, 1)
		wantError(t, err, "offered load")
		_, err = MMCD(a, 1, 1)
		wantError(t, err, "offered load")
		_, err = MMCD(1, 1, a)
		wantError(t, err, "queue timeout")
		_, _, err = QueueShedBounds(a, 1)
		wantError(t, err, "offered load")
		_, err = QueueGrowth(a, 1, 1)
		wantError(t, err, "rate")
		_, err = QueueGrowth(1, 1, a)
		wantError(t, err, "mean hold")
	}
	_, err := MMCK(1, 0, 1)
	wantError(t, err, "permits is 0")
	_, err = MMCK(1, 1, MaxPermits+1)
	wantError(t, err, "queue places", "check the unit")
	_, err = MMCD(1, 0, 1)
	wantError(t, err, "permits is 0")
	_, err = MMCD(1, 1, 1e10)
	wantError(t, err, "check the unit")
	_, _, err = QueueShedBounds(1, 0)
	wantError(t, err, "permits is 0")
	_, err = QueueGrowth(1, 0, 1)
	wantError(t, err, "permits is 0")
}
