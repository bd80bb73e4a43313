package sizing

import (
	"fmt"
	"math"
)

// ErlangB returns the probability that an arriving call finds all c permits
// taken and is shed, at an offered load of a erlangs (rate x mean hold):
//
//	B(a,0) = 1,  B(a,k) = a B(a,k-1) / (k + a B(a,k-1))
//
// Erlang 1917; it holds for Poisson arrivals, any distribution of the hold,
// and no waiting. The recurrence is worked unrolled, as 1/B = 1 + c/a + c(c-1)/a^2
// + ..., from the top, where it may stop early: all terms are positive, so
// nothing cancels, for loads and permits up to a million. Values below about
// 1e-300 come out as 0. A NaN, an infinity, a negative load, one above 1e30, and
// more than twice MaxPermits are errors.
func ErlangB(a float64, c int) (float64, error) {
	return ErlangBContinuous(a, float64(c))
}

// ErlangBTable returns B(a,0) to B(a,c) in one pass of the recurrence.
func ErlangBTable(a float64, c int) ([]float64, error) {
	if err := checkErlang(a, float64(c)); err != nil {
		return nil, err
	}
	table := make([]float64, c+1)
	table[0] = 1
	for k := 1; k <= c; k++ {
		table[k] = nextB(a, table[k-1], float64(k))
	}
	return table, nil
}

// maxServers bounds the permits of one evaluation, and so its time. It leaves
// room above MaxPermits to show what a little more would do.
const maxServers = 2 * MaxPermits

func checkErlang(a, c float64) error {
	if err := firstError(checkLoad("offered load", a), checkNumber("permits", c)); err != nil {
		return err
	}
	if c > maxServers {
		return fmt.Errorf("permits is %.6g, above %d: check the unit", c, maxServers)
	}
	return nil
}

// nextB is one step of the recurrence: B(a,k) from B(a,k-1).
func nextB(a, b, k float64) float64 {
	return a * b / (k + a*b)
}

// PermitsForShed returns the fewest permits, at least 1, whose shed probability
// at an offered load of a erlangs is at most target: the inverse of ErlangB in
// c, in one pass. It is what headroom auto means. More than MaxPermits is an
// error.
func PermitsForShed(a, target float64) (int, error) {
	if err := firstError(checkLoad("offered load", a), checkTarget(target)); err != nil {
		return 0, err
	}
	if a*(1-target) > MaxPermits { // B >= 1 - c/a
		return 0, tooManyPermits(a)
	}
	b := 1.0
	for k := 1; k <= MaxPermits; k++ {
		if b = nextB(a, b, float64(k)); b <= target {
			return k, nil
		}
	}
	return 0, tooManyPermits(a)
}

func tooManyPermits(a float64) error {
	return fmt.Errorf("%.6g calls in flight on average need more than %d permits: check the unit of rate and latency", a, MaxPermits)
}

// OfferedLoad returns the load in erlangs at which c permits shed the share
// target: the inverse of ErlangB in a, to about 12 digits. It is found by
// Newton's method on ln B over ln a, whose slope is c - a + aB, kept between the
// bounds (target c!)^(1/c) <= a <= c/(1-target).
//
// It is for callers of this package that ask how much traffic a given cap
// carries; the commands ask for the cap, with PermitsForShed.
func OfferedLoad(c int, target float64) (float64, error) {
	if err := firstError(checkPermits(c), checkTarget(target)); err != nil {
		return 0, err
	}
	n := float64(c)
	factorial, _ := math.Lgamma(n + 1)
	low := (math.Log(target) + factorial) / n
	high := math.Log(n) - math.Log1p(-target)
	x := high
	for range 100 {
		a := math.Exp(x)
		s, scale := inverseB(a, n)
		miss := -scale - math.Log(s) - math.Log(target)
		if miss > 0 {
			high = x
		} else {
			low = x
		}
		step := miss / (n - a + a*math.Exp(-scale)/s)
		next := x - step
		if !(next > low && next < high) {
			next = low + (high-low)/2
		}
		if math.Abs(next-x) < 1e-15*max(1, math.Abs(x)) {
			break
		}
		x = next
	}
	return math.Exp(x), nil
}
