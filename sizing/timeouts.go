package sizing

import (
	"errors"
	"fmt"
	"math/big"
)

// ErrUnbounded says that a wait has no bound because attempts have no timeout.
var ErrUnbounded = errors.New("attempts have no timeout, so that the wait has no bound: set one such as 400ms")

// Wait is how a caller waits for one bulkhead. Durations are seconds.
type Wait struct {
	CoversCall         bool     // a permit is held for the whole call with its retries, not for an attempt
	Attempts           int      // n, the first call included; 0 means 1
	QueueWait          *big.Rat // at most, for a permit; nil: reject at once
	Timeout            *big.Rat // of one attempt; nil: none
	TimeoutFromEnqueue bool     // the timeout's clock starts in the queue, not at the permit
	BackoffInitial     *big.Rat // before the first retry, doubling from then on
	BackoffMax         *big.Rat // at most; nil: no limit
}

// WorstWait returns the longest that a caller can wait, in exact seconds; the
// deadline must be no shorter:
//
//	covers attempt   n x (queue wait + timeout) + backoffs
//	covers call      queue wait + n x timeout + backoffs
//
// No queue wait is added where the timeout's clock starts at enqueue. Without a
// timeout the error is ErrUnbounded.
func WorstWait(w Wait) (*big.Rat, error) {
	total, err := CallHold(w)
	if err != nil {
		return nil, err
	}
	if w.QueueWait == nil || w.TimeoutFromEnqueue {
		return total, nil
	}
	waits := max(w.Attempts, 1)
	if w.CoversCall {
		waits = 1
	}
	return total.Add(total, new(big.Rat).Mul(ratInt(waits), w.QueueWait)), nil
}

// CallHold returns how long one call takes at most but for its waits in the
// queue, n x timeout + backoffs, in exact seconds. Where a permit covers the
// whole call it is held as long: see Stall.CallHold. Without a timeout the error
// is ErrUnbounded.
func CallHold(w Wait) (*big.Rat, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	n := max(w.Attempts, 1)
	total, err := w.backoffs(n - 1)
	if err != nil {
		return nil, err
	}
	return total.Add(total, new(big.Rat).Mul(ratInt(n), w.Timeout)), nil
}

// QueueWait returns how long the last of so many waiters waits at most before
// so many permits, ceil(length/permits) x hold, in exact seconds: whenever hold
// has passed, all permits have come free once. Hold is the longest that one is
// held: the timeout, or CallHold where a permit covers the call. It bounds a
// queue that is limited by its length alone; a queue timeout is the bound itself.
// A length of 0 waits for nothing. A length outside 0 to MaxPermits, permits
// outside 1 to MaxPermits, and a missing or negative hold are errors.
func QueueWait(length, permits int, hold *big.Rat) (*big.Rat, error) {
	if err := firstError(checkCap("queue length", length), checkPermits(permits), checkRat("hold", hold)); err != nil {
		return nil, err
	}
	turns := (length + permits - 1) / permits
	return new(big.Rat).Mul(ratInt(turns), hold), nil
}

func (w Wait) check() error {
	if w.Attempts < 0 {
		return fmt.Errorf("max_attempts is %d: the first call counts, give at least 1", w.Attempts)
	}
	if w.Timeout == nil {
		return ErrUnbounded
	}
	if w.BackoffMax != nil && w.BackoffInitial == nil {
		return errors.New("backoff has a max but no initial: give both")
	}
	return firstError(
		checkRat("timeout", w.Timeout),
		checkOptional("queue wait", w.QueueWait),
		checkOptional("backoff initial", w.BackoffInitial),
		checkOptional("backoff max", w.BackoffMax),
	)
}

// backoffs returns the sum of the pauses before so many retries.
func (w Wait) backoffs(retries int) (*big.Rat, error) {
	if w.BackoffInitial == nil {
		return new(big.Rat), nil
	}
	return doubled(w.BackoffInitial, w.BackoffMax, retries)
}

// maxDoublings is where doubling without a max is no plan any more: 2^64 times
// the initial backoff.
const maxDoublings = 64

// doubled sums initial, 2 initial, 4 initial ... capped at limit: k doublings
// below the limit make initial x (2^k - 1), the rest are the limit each.
func doubled(initial, limit *big.Rat, retries int) (*big.Rat, error) {
	if initial.Sign() == 0 {
		return new(big.Rat), nil
	}
	sum, pause := new(big.Rat), new(big.Rat).Set(initial)
	for i := range retries {
		if limit != nil && pause.Cmp(limit) >= 0 {
			return sum.Add(sum, new(big.Rat).Mul(ratInt(retries-i), limit)), nil
		}
		if limit == nil && i == maxDoublings {
			return nil, fmt.Errorf("%d retries double the backoff without a max: give one", retries)
		}
		sum.Add(sum, pause)
		pause.Add(pause, pause)
	}
	return sum, nil
}
