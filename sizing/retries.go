package sizing

import (
	"fmt"
	"math"
	"math/big"
)

// Retries says how often one call may be attempted. The zero value is one
// attempt: no retries.
type Retries struct {
	MaxAttempts        int      // n, the first call included; 0 means 1
	BudgetRatio        *big.Rat // retries allowed as a share of calls; nil: no such budget
	BudgetMinPerSecond *big.Rat // retries a second allowed whatever the share; nil: none
	FailureRatio       *big.Rat // p, the share of attempts expected to fail; nil: not known
	Layers             []int    // attempts of each further layer that retries too; they multiply
}

// Attempts returns the attempts per call to provision for, as an exact
// rational, at a rate in calls per second:
//
//	neither budget nor failure ratio   N = n x product(layers), the worst case
//	budget                             min(n, 1 + ratio + min/rate) x product(layers)
//	failure ratio p                    (1 - p^N) / (1 - p); N where p is 1
//	both                               the smaller
//
// The geometric sum is the mean number of attempts when each fails with
// probability p, independently. Where its exact form would take thousands of
// digits it is rounded up to 12. At rate 0 a budget with a minimum bounds
// nothing and n stands. Negative values, a p above 1 and an overflow of N are
// errors.
func (r Retries) Attempts(rate *big.Rat) (*big.Rat, error) {
	bounded, err := r.StallAttempts(rate)
	if err != nil || r.FailureRatio == nil {
		return bounded, err
	}
	worst, err := r.WorstAttempts()
	if err != nil {
		return nil, err
	}
	expected, err := expectedAttempts(r.FailureRatio, worst)
	if err != nil {
		return nil, err
	}
	return minRat(bounded, expected), nil
}

// StallAttempts returns the attempts per call while the dependency stalls and
// every attempt fails: N = n x product(layers), or the budget's bound min(n, 1
// + ratio + min/rate) x product(layers). The failure ratio does not count.
func (r Retries) StallAttempts(rate *big.Rat) (*big.Rat, error) {
	worst, err := r.WorstAttempts()
	if err != nil {
		return nil, err
	}
	if !r.budgeted() {
		return new(big.Rat).SetInt64(worst), nil
	}
	own, err := r.budgetBound(rate)
	if err != nil {
		return nil, err
	}
	outer := new(big.Rat).SetInt64(worst / int64(r.maxAttempts()))
	return own.Mul(own, outer), nil
}

// WorstAttempts returns N = n x product(layers), what one call can cost when
// every attempt fails and no budget steps in. A count below 0, a layer below
// 1, and an overflow are errors.
func (r Retries) WorstAttempts() (int64, error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	worst := int64(r.maxAttempts())
	for _, n := range r.Layers {
		if n < 1 {
			return 0, fmt.Errorf("a retry layer has %d attempts: the first call counts, give at least 1", n)
		}
		if worst > math.MaxInt64/int64(n) {
			return 0, fmt.Errorf("%d retry layers multiply to more attempts than can be counted: lower max_attempts", len(r.Layers))
		}
		worst *= int64(n)
	}
	return worst, nil
}

// Unbudgeted says whether calls may be attempted more than once with neither a
// budget nor a failure ratio to say how often that happens.
func (r Retries) Unbudgeted() bool {
	if r.budgeted() || r.FailureRatio != nil {
		return false
	}
	worst, err := r.WorstAttempts()
	return err != nil || worst > 1
}

func (r Retries) budgeted() bool {
	return r.BudgetRatio != nil || r.BudgetMinPerSecond != nil
}

func (r Retries) maxAttempts() int { return max(r.MaxAttempts, 1) }

func (r Retries) check() error {
	if r.MaxAttempts < 0 {
		return fmt.Errorf("max_attempts is %d: the first call counts, give at least 1", r.MaxAttempts)
	}
	if p := r.FailureRatio; p != nil && p.Cmp(ratInt(1)) > 0 {
		return fmt.Errorf("failure_ratio is %s: give a share of at most 1, such as 5%%", FormatNumber(p))
	}
	return firstError(
		checkOptional("failure_ratio", r.FailureRatio),
		checkOptional("budget ratio", r.BudgetRatio),
		checkOptional("budget min_per_second", r.BudgetMinPerSecond),
	)
}

// budgetBound returns min(n, 1 + ratio + min/rate).
func (r Retries) budgetBound(rate *big.Rat) (*big.Rat, error) {
	if err := checkRat("rate", rate); err != nil {
		return nil, err
	}
	n := ratInt(r.maxAttempts())
	bound := ratInt(1)
	if r.BudgetRatio != nil {
		bound.Add(bound, r.BudgetRatio)
	}
	if least := r.BudgetMinPerSecond; least != nil && least.Sign() > 0 {
		if rate.Sign() == 0 {
			return n, nil
		}
		bound.Add(bound, new(big.Rat).Quo(least, rate))
	}
	return minRat(n, bound), nil
}

// Unmeasured returns the part of m = attempts per call that a measurement does
// not contain yet: m divided by the attempts per call observed in a series that
// counts attempts, and never below 1. Observed below 1 is an error.
func Unmeasured(attempts, observed *big.Rat) (*big.Rat, error) {
	if err := firstError(checkRat("attempts", attempts), checkRat("observed attempts", observed)); err != nil {
		return nil, err
	}
	one := ratInt(1)
	if observed.Cmp(one) < 0 {
		return nil, fmt.Errorf("observed attempts per call is %s: the first call counts, give at least 1", FormatNumber(observed))
	}
	m := new(big.Rat).Quo(attempts, observed)
	if m.Cmp(one) < 0 {
		return one, nil
	}
	return m, nil
}

// maxExactBits bounds the size of p^N that is worked out exactly.
const maxExactBits = 1 << 14

// expectedAttempts returns (1 - p^n) / (1 - p), and n where p is 1.
func expectedAttempts(p *big.Rat, n int64) (*big.Rat, error) {
	one := ratInt(1)
	if p.Cmp(one) == 0 {
		return new(big.Rat).SetInt64(n), nil
	}
	bits := int64(max(p.Num().BitLen(), p.Denom().BitLen()))
	if n > maxExactBits/bits {
		return roundedAttempts(p, n)
	}
	all := new(big.Rat).SetFrac(
		new(big.Int).Exp(p.Num(), big.NewInt(n), nil),
		new(big.Int).Exp(p.Denom(), big.NewInt(n), nil))
	sum := new(big.Rat).Sub(one, all)
	return sum.Quo(sum, new(big.Rat).Sub(one, p)), nil
}

// roundedAttempts is expectedAttempts in floating point, rounded up.
func roundedAttempts(p *big.Rat, n int64) (*big.Rat, error) {
	miss := Float(new(big.Rat).Sub(ratInt(1), p))
	if miss*float64(n) < 1e-9 { // the sum is n to 9 digits, and n is the safe side
		return new(big.Rat).SetInt64(n), nil
	}
	sum, err := RoundUp(-math.Expm1(float64(n)*math.Log1p(-miss))/miss, measuredDigits)
	if err != nil {
		return nil, err
	}
	return minRat(sum, new(big.Rat).SetInt64(n)), nil
}
