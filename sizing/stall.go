package sizing

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// Stall is one bulkhead whose dependency stops answering at time 0.
type Stall struct {
	Permits       int
	Rate          *big.Rat // calls per second
	StallAttempts *big.Rat // attempts per call when every one fails, from Retries
	Timeout       *big.Rat // of one attempt, in seconds; nil: none
	MeanInFlight  *float64 // permits in use when it begins; nil: unknown
	CallHold      *big.Rat // where a permit covers a whole call: how long one holds it in a stall, from CallHold; nil: a permit covers an attempt
}

// StallEffect is what a stall does to its bulkhead.
type StallEffect struct {
	Hold          float64  // permits held once the stall has lasted
	Bounded       bool     // whether a timeout bounds what one call holds
	PermitSeconds *float64 // permit-seconds that whatever takes a permit costs: an attempt the timeout, a covered call its CallHold; nil: unbounded
	Fills         bool     // whether all permits come to be held
	Fill          *float64 // seconds until then; nil: never, or the load at the start is unknown
	FillFromEmpty *float64 // the same from no permit in use; nil: never
}

// Effect works out the stall as a fluid: calls arrive at the even rate r and
// each attempt holds its permit for the timeout T. With m attempts per call,
//
//	hold = min(permits, r m T), and permits without a timeout
//	never fills if r m T < permits
//	fill = (permits - a)/r if that is at most T, or there is no timeout
//
// Longer fills need the retries. First attempts in use at t >= T are those of the
// last T: r T. Each has its second attempt a timeout after its first, so that
// those in use grow by r in (T, 2T) and stay at r T from then on, and so forth:
// the sum grows with slope r as long as whole attempts remain and with slope r
// frac(m) in the last interval, being r T min(j, m) at j T. Hence, with k =
// floor(m) and the calls that were in flight at the start long timed out,
//
//	fill = permits/r                               if permits <= r T k
//	     = k T + (permits - r T k) / (r frac(m))   otherwise
//
// Where a permit covers the whole call it is held for all attempts and for the
// backoffs between them, H = n T + backoffs, and the retries take no further
// permits. That is one attempt with the timeout H:
//
//	hold = min(permits, r H)
//	never fills if r H < permits
//	fill = (permits - a)/r, which is at most H where it fills at all
//
// n is all attempts there, and no budget's bound: a call that does retry holds
// its permit for all of them.
//
// A missing rate or number of attempts, attempts below 1, a timeout of 0, a call
// hold below the timeout, and permits outside 1 to MaxPermits are errors.
func (s Stall) Effect() (StallEffect, error) {
	if err := s.check(); err != nil {
		return StallEffect{}, err
	}
	if s.CallHold != nil {
		s.Timeout, s.StallAttempts = s.CallHold, ratInt(1)
	}
	var e StallEffect
	if s.Timeout != nil {
		seconds := Float(s.Timeout)
		e.Bounded, e.PermitSeconds = true, &seconds
	}
	permits := ratInt(s.Permits)
	e.Hold = Float(permits)
	e.Fills = s.Rate.Sign() > 0
	if reach := s.reach(); reach != nil {
		e.Hold = Float(minRat(permits, reach))
		e.Fills = reach.Cmp(permits) >= 0
	} else if !e.Fills {
		e.Hold = 0
	}
	if e.Fills {
		e.Fill, e.FillFromEmpty = s.fill(), s.fillFromEmpty()
	}
	return e, s.checkEffect(e)
}

func (s Stall) check() error {
	if err := firstError(
		checkPermits(s.Permits),
		checkRat("rate", s.Rate),
		checkRat("stall attempts", s.StallAttempts),
		checkOptional("timeout", s.Timeout),
		checkOptional("call hold", s.CallHold),
	); err != nil {
		return err
	}
	if s.StallAttempts.Cmp(ratInt(1)) < 0 {
		return fmt.Errorf("stall attempts is %s: the first call counts, give at least 1", FormatNumber(s.StallAttempts))
	}
	if s.Timeout != nil && s.Timeout.Sign() == 0 {
		return errors.New("timeout is 0: leave it out for none, or give one such as 400ms")
	}
	if s.CallHold != nil && (s.CallHold.Sign() == 0 || s.Timeout == nil || s.CallHold.Cmp(s.Timeout) < 0) {
		return fmt.Errorf("a call holds its permit for %s, with a timeout of %s for each attempt: give all attempts and backoffs together", FormatDuration(s.CallHold), FormatDuration(s.Timeout))
	}
	if s.MeanInFlight != nil {
		return checkLoad("mean in flight", *s.MeanInFlight)
	}
	return nil
}

// checkEffect refuses what overflowed on its way to float64.
func (s Stall) checkEffect(e StallEffect) error {
	for _, x := range []*float64{e.PermitSeconds, e.Fill, e.FillFromEmpty} {
		if x == nil {
			continue
		}
		if err := checkNumber("stall time", *x); err != nil {
			return err
		}
	}
	return nil
}

// reach returns r m T, the attempts in flight were there no cap; nil without a
// timeout.
func (s Stall) reach() *big.Rat {
	return Demand(s.Rate, s.StallAttempts, s.Timeout)
}

// fill returns the seconds until a bulkhead with the mean in flight at the
// start is full.
func (s Stall) fill() *float64 {
	if s.MeanInFlight == nil {
		return nil
	}
	left := float64(s.Permits) - *s.MeanInFlight
	seconds := max(0, left) / Float(s.Rate)
	if s.Timeout == nil || seconds <= Float(s.Timeout) {
		return &seconds
	}
	return s.fillFromEmpty()
}

// fillFromEmpty returns the same from no permit in use, by the formula of
// Effect. The bulkhead must be known to fill.
func (s Stall) fillFromEmpty() *float64 {
	permits := ratInt(s.Permits)
	first := new(big.Rat).Quo(permits, s.Rate)
	if s.Timeout != nil {
		whole := new(big.Rat).SetInt(new(big.Int).Quo(s.StallAttempts.Num(), s.StallAttempts.Denom()))
		plateau := new(big.Rat).Mul(whole, s.Timeout) // seconds until whole attempts are used up
		if first.Cmp(plateau) > 0 {
			rest := new(big.Rat).Sub(first, plateau)
			rest.Quo(rest, new(big.Rat).Sub(s.StallAttempts, whole))
			first = rest.Add(rest, plateau)
		}
	}
	seconds := Float(first)
	return &seconds
}

// PoolLeft returns the part of a pool that stays usable when the k bulkheads
// that hold most stall together, never below 0. Independence fails in an
// incident, so that this stands beside every probability.
func PoolLeft(size int, holds []int, k int) int {
	sorted := slices.Sorted(slices.Values(holds))
	slices.Reverse(sorted)
	left := size
	for _, hold := range sorted[:min(max(k, 0), len(sorted))] {
		if left -= max(hold, 0); left <= 0 {
			return 0
		}
	}
	return max(left, 0)
}

// BlastRadius returns permits/size: the share of its pool that one stalled
// dependency can take. Above 1 the cap bounds nothing.
func BlastRadius(permits, size int) (float64, error) {
	if err := checkPermits(permits); err != nil {
		return 0, err
	}
	if size < 1 {
		return 0, fmt.Errorf("pool size is %d: give at least 1", size)
	}
	return float64(permits) / float64(size), nil
}
