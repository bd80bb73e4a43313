package sizing

import (
	"math"
	"math/big"
	"testing"
	"time"
)

// FuzzProbabilities holds that no load, however odd, makes a probability that is
// none, and that none takes long.
func FuzzProbabilities(f *testing.F) {
	f.Add(6.0, 10.0, 0.25, 3)
	f.Add(1e-308, 0.999999, 1e9, 1_000_000)
	f.Add(1e30, 1999999.5, 1e-300, 1)
	f.Add(999999.9, 1e6, 0.0, 1_000_000)
	f.Add(math.NaN(), math.Inf(1), -1.0, -1)
	f.Fuzz(func(t *testing.T, a, c, x float64, n int) {
		defer func(start time.Time) {
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
		}(time.Now())
		share := func(name string, p float64, err error) {
			if err == nil && !(p >= 0 && p <= 1+1e-9) {
				t.Errorf("%s(%v, %v, %v, %d) is %v", name, a, c, x, n, p)
			}
		}
		b, err := ErlangBContinuous(a, c)
		share("ErlangBContinuous", b, err)
		b, err = ErlangB(a, n)
		share("ErlangB", b, err)
		b, err = Hayward(a, c, x)
		share("Hayward", b, err)
		b, err = ShedOverWindow([]float64{a, c}, x, n)
		share("ShedOverWindow", b, err)
		k, err := MMCK(a, n, int(min(c, 1e4)))
		share("MMCK", k.Reject, err)
		share("MMCK wait", k.WaitGivenAccepted, err)
		d, err := MMCD(a, n, x)
		share("MMCD", d.Reject, err)
		share("MMCD wait", d.WaitAndServed, err)
		if err == nil && !finite(d.MeanWait, d.MeanInQueue, k.MeanQueue) {
			t.Errorf("MMCD(%v, %d, %v) is %+v, MMCK %+v", a, n, x, d, k)
		}
		p, _, err := ProbabilityFull([]Load{{a, min(n, 1000)}, {x, 7}}, n)
		share("ProbabilityFull", p, err)
		if permits, err := PermitsForShedPeaked(a, c, x); err == nil && (permits < 1 || permits > MaxPermits) {
			t.Errorf("PermitsForShedPeaked(%v, %v, %v) is %d", a, c, x, permits)
		}
		if load, err := OfferedLoad(n, x); err == nil && !finite(load) {
			t.Errorf("OfferedLoad(%d, %v) is %v", n, x, load)
		}
	})
}

// FuzzStall holds that a stall holds no more than the permits, fills no sooner
// than it can, and never panics.
func FuzzStall(f *testing.F) {
	f.Add(15, "10", "2.5", "1", 1.0)
	f.Add(1_000_000, "1e-64", "1e64", "1e64", 0.0)
	f.Add(0, "-1", "0", "0", math.NaN())
	f.Fuzz(func(t *testing.T, permits int, rate, attempts, timeout string, mean float64) {
		read := func(s string) *big.Rat {
			x, err := ParseNumber(s)
			if err != nil {
				return nil
			}
			return x
		}
		checkStall(t, Stall{permits, read(rate), read(attempts), read(timeout), &mean, nil})
		checkStall(t, Stall{permits, read(rate), ratInt(1), read(timeout), &mean, Demand(read(timeout), read(attempts), ratInt(1))})
	})
}

func checkStall(t *testing.T, s Stall) {
	t.Helper()
	e, err := s.Effect()
	if err != nil {
		return
	}
	permits := float64(s.Permits)
	if e.Hold < 0 || e.Hold > permits || e.Fills && e.Hold < permits || e.Fills != (e.FillFromEmpty != nil) {
		t.Errorf("%+v: %+v", s, e)
	}
	if e.Fills && *e.Fill > *e.FillFromEmpty*(1+1e-12) {
		t.Errorf("%+v fills later than from empty: %+v", s, e)
	}
}
