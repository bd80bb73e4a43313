package sizing

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// MaxPermits is the largest cap that this package works with. No process holds
// a million calls to one dependency in flight: above it a unit is wrong.
const MaxPermits = 1_000_000

// Demand returns rate x attempts x latency: the calls in flight if every call
// took the healthy p99. Rate in calls per second, latency in seconds. It is
// Little's law, L = lambda W (Little 1961), with the p99 in W's place. An
// absent factor makes the demand absent: nil.
func Demand(rate, attempts, latency *big.Rat) *big.Rat {
	if rate == nil || attempts == nil || latency == nil {
		return nil
	}
	d := new(big.Rat).Mul(rate, attempts)
	return d.Mul(d, latency)
}

// Permits returns ceil(demand x headroom), at least 1. The ceiling is of exact
// rationals: 15 x 2 is 30, never 31. A missing or negative demand, a headroom
// below 1, and a result above MaxPermits are errors.
func Permits(demand, headroom *big.Rat) (int, error) {
	if err := firstError(checkRat("demand", demand), checkRat("headroom", headroom)); err != nil {
		return 0, err
	}
	if headroom.Cmp(ratInt(1)) < 0 {
		return 0, fmt.Errorf("headroom is %s: give a factor of at least 1", FormatNumber(headroom))
	}
	want := new(big.Rat).Mul(demand, headroom)
	if want.Cmp(ratInt(MaxPermits)) > 0 {
		return 0, fmt.Errorf("%s permits would be needed, above %d: check the unit of rate and latency", FormatNumber(want), MaxPermits)
	}
	n, err := Ceil(want)
	return max(n, 1), err
}

// Ceil returns the smallest integer that is at least x. An absent x and one
// beyond the range of int are errors.
func Ceil(x *big.Rat) (int, error) {
	if x == nil {
		return 0, errors.New("a number to round is missing")
	}
	n, err := floor(new(big.Rat).Neg(x))
	return -n, err
}

// floor returns the largest integer that is at most x.
func floor(x *big.Rat) (int, error) {
	q := new(big.Int).Div(x.Num(), x.Denom()) // Euclidean: rounds down
	if !q.IsInt64() || q.Int64() > math.MaxInt || q.Int64() <= math.MinInt {
		return 0, errors.New("a number is too large to count: check the unit")
	}
	return int(q.Int64()), nil
}

// MeanInFlight returns the offered load in erlangs, a = rate x attempts x hold:
// the permits in use on average, were there no cap. Hold is the mean time in
// seconds that a permit is held, never a percentile.
func MeanInFlight(rate, attempts, hold *big.Rat) (float64, error) {
	if err := firstError(checkRat("rate", rate), checkRat("attempts", attempts), checkRat("mean hold", hold)); err != nil {
		return 0, err
	}
	a := Float(Demand(rate, attempts, hold))
	return a, checkLoad("mean in flight", a)
}
