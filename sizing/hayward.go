package sizing

import (
	"fmt"
	"math"
)

// Hayward returns the shed probability of peaked traffic, B(a/z, c/z), where z
// is the measured ratio of variance to mean of the calls in flight without a
// cap (1 for Poisson arrivals). Fredericks, Congestion in Blocking Systems, BSTJ
// 59 (1980). It is an approximation, and tends to come out low where z is large.
func Hayward(a, c, z float64) (float64, error) {
	if err := checkPositive("peakedness", z); err != nil {
		return 0, err
	}
	return ErlangBContinuous(a/z, c/z)
}

// PermitsForShedPeaked is PermitsForShed for traffic of peakedness z: the
// fewest permits, at least 1, for which Hayward is at most target.
func PermitsForShedPeaked(a, z, target float64) (int, error) {
	if err := firstError(checkLoad("offered load", a), checkPositive("peakedness", z), checkTarget(target)); err != nil {
		return 0, err
	}
	limit := int(min(MaxPermits, math.Floor(MaxPermits*z)))
	enough := func(c int) (bool, error) {
		b, err := Hayward(a, float64(c), z)
		return b <= target, err
	}
	if limit < 1 {
		return 0, fmt.Errorf("peakedness is %v: give a number of at least 0.001", z)
	}
	return firstPermits(limit, a, enough)
}

// firstPermits returns the smallest c from 1 to limit that is enough: doubling,
// then halving.
func firstPermits(limit int, a float64, enough func(int) (bool, error)) (int, error) {
	low, high := 0, 1
	for {
		ok, err := enough(high)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		if high == limit {
			return 0, tooManyPermits(a)
		}
		low, high = high, min(2*high, limit)
	}
	for high-low > 1 {
		mid := low + (high-low)/2
		ok, err := enough(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			high = mid
		} else {
			low = mid
		}
	}
	return high, nil
}
