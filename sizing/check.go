package sizing

import (
	"fmt"
	"math"
	"math/big"
)

// checkNumber refuses a NaN, an infinity and a negative value, naming it.
func checkNumber(name string, x float64) error {
	if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
		return fmt.Errorf("%s is %v: give a finite number of at least 0", name, x)
	}
	return nil
}

// maxLoad bounds an offered load in erlangs: no process has one like that,
// and products of larger ones overflow.
const maxLoad = 1e30

// checkLoad is checkNumber that refuses an absurd load as well.
func checkLoad(name string, a float64) error {
	if err := checkNumber(name, a); err != nil {
		return err
	}
	if a > maxLoad {
		return fmt.Errorf("%s is %.6g, above %.0g: check the unit of rate and latency", name, a, maxLoad)
	}
	return nil
}

// checkPositive is checkNumber that refuses 0 as well.
func checkPositive(name string, x float64) error {
	if err := checkNumber(name, x); err != nil {
		return err
	}
	if x == 0 {
		return fmt.Errorf("%s is 0: give a number above 0", name)
	}
	return nil
}

// checkTarget accepts a shed probability strictly between 0 and 1.
func checkTarget(target float64) error {
	if !(target > 0 && target < 1) {
		return fmt.Errorf("target shed is %v: give a probability above 0 and below 1, such as 0.0001", target)
	}
	return nil
}

// checkPermits accepts 1 to MaxPermits.
func checkPermits(permits int) error {
	if permits < 1 {
		return fmt.Errorf("permits is %d: give at least 1", permits)
	}
	return checkCap("permits", permits)
}

// checkCap accepts 0 to MaxPermits.
func checkCap(name string, n int) error {
	if n < 0 {
		return fmt.Errorf("%s is %d: give a number of at least 0", name, n)
	}
	if n > MaxPermits {
		return fmt.Errorf("%s is %d, above %d: check the unit", name, n, MaxPermits)
	}
	return nil
}

// checkRat refuses an absent and a negative rational, naming it.
func checkRat(name string, x *big.Rat) error {
	if x == nil {
		return fmt.Errorf("%s is missing: give a number of at least 0", name)
	}
	if x.Sign() < 0 {
		return fmt.Errorf("%s is %s: give a number of at least 0", name, FormatNumber(x))
	}
	return nil
}

// checkOptional is checkRat that lets an absent value pass.
func checkOptional(name string, x *big.Rat) error {
	if x == nil {
		return nil
	}
	return checkRat(name, x)
}

// firstError returns the first error that is not nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func minRat(x, y *big.Rat) *big.Rat {
	if x.Cmp(y) <= 0 {
		return x
	}
	return y
}

func ratInt(n int) *big.Rat { return new(big.Rat).SetInt64(int64(n)) }
