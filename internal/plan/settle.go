package plan

import (
	"math/big"

	"github.com/bhsize/bhsize/sizing"
)

// settle derives what depends on the final permits and on the size of the
// pool; 0: there is no pool. What cannot be computed stays unknown, with a
// note: one odd bulkhead must not hide the others.
func (b *Bulkhead) settle(size int) {
	b.BlastNow, b.Blast = blast(b.Now, size), blast(b.Permits, size)
	if b.Permits == nil {
		return
	}
	if _, censored := b.Censored(); censored && b.Now != nil && *b.Permits < *b.Now {
		b.note(NoteCutBelow, "cut below the present %d although that limit rejected calls: what it sheds is more than is said here", *b.Now)
	}
	for _, derive := range []func() error{b.stall, b.worstWait, b.sheds, b.shedsWhileWaiting} {
		if err := derive(); err != nil {
			b.note(NoteUnknown, "%v", err)
		}
	}
	b.noteShed()
}

func blast(permits *int, size int) *float64 {
	if permits == nil || size == 0 {
		return nil
	}
	r, err := sizing.BlastRadius(*permits, size)
	if err != nil {
		return nil
	}
	return &r
}

func (b *Bulkhead) sheds() error {
	var err error
	if b.Shed, err = b.shedWith(b.Permits, b.MeanInFlight); err != nil {
		return err
	}
	if b.ShedNow, err = b.shedWith(b.Now, b.MeanInFlight); err != nil {
		return err
	}
	rates := b.Traffic.slotRates(sizing.Float(b.Rate))
	if rates == nil || b.MeanInFlight == nil {
		return nil
	}
	hold := sizing.Float(b.Attempts) * sizing.Float(b.Traffic.Mean)
	over, err := sizing.ShedOverWindow(rates, hold, *b.Permits)
	if err == nil {
		b.ShedWindow = &over
	}
	return err
}

// noticeable is the shed probability at peak that a healthy bulkhead should not have.
const noticeable = 0.01

// ShedsNoticeably says whether calls are shed in healthy weather; false when unknown.
func (b *Bulkhead) ShedsNoticeably() bool { return b.Shed != nil && *b.Shed > noticeable }

// noteShed says so where the p99 and the headroom give a number that sheds in
// healthy weather: a demand below a few calls leaves no room for two at once.
func (b *Bulkhead) noteShed() {
	if !b.ShedsNoticeably() {
		return
	}
	b.note(NoteSheds, "%.2g %% of the calls would be shed at peak although all is well: %d permits would meet the target of %.2g %% (headroom: auto)",
		100**b.Shed, *b.ByLoss, 100*b.TargetShed)
}

// shedsWhileWaiting estimates the shed with a queue: by its timeout (M/M/c+D),
// or by its length (M/M/c/K).
func (b *Bulkhead) shedsWhileWaiting() error {
	q := b.Spec.Queue
	if q == nil || b.MeanInFlight == nil || *b.MeanInFlight <= 0 || q.Timeout == nil && q.Length == nil {
		return nil
	}
	if b.Peakedness != nil && *b.Peakedness != 1 {
		return nil // bounds and estimate hold for Poisson arrivals only
	}
	low, high, err := sizing.QueueShedBounds(*b.MeanInFlight, *b.Permits)
	if err != nil {
		return err
	}
	about, law, err := b.waiting(*b.MeanInFlight)
	if err == nil {
		b.QueueShed = &QueueShed{Low: low, High: high, About: about, Law: law}
	}
	return err
}

func (b *Bulkhead) waiting(a float64) (shed float64, law string, err error) {
	q := b.Spec.Queue
	if q.Timeout == nil {
		byLength, err := sizing.MMCK(a, *b.Permits, *q.Length)
		return byLength.Reject, "M/M/c/K", err
	}
	byTimeout, err := sizing.MMCD(a, *b.Permits, sizing.Float(q.Timeout)/sizing.Float(b.Traffic.Mean))
	return byTimeout.Reject, "M/M/c+D", err
}

// queueWait is the longest wait for a permit; nil: rejected at once, or no
// bound is known.
func (b *Bulkhead) queueWait() (*big.Rat, error) {
	q := b.Spec.Queue
	if q == nil || q.Length == nil || b.Spec.Timeout == nil {
		if q == nil {
			return nil, nil
		}
		return q.Timeout, nil
	}
	hold := b.Spec.Timeout
	if b.Spec.Covers == "call" {
		var err error
		if hold, err = sizing.CallHold(b.callTime()); err != nil {
			return nil, err
		}
	}
	byLength, err := sizing.QueueWait(*q.Length, *b.Permits, hold)
	if err == nil && q.Timeout != nil && q.Timeout.Cmp(byLength) < 0 {
		return q.Timeout, nil
	}
	return byLength, err
}

// worstWait is how long a caller may wait at worst, against its deadline.
func (b *Bulkhead) worstWait() error {
	if b.Spec.Timeout == nil {
		b.note(NoteNoTimeout, "no call timeout: a stalled call holds its permit for as long as the transport lets it")
		return nil
	}
	w := b.callTime()
	var err error
	if w.QueueWait, err = b.queueWait(); err != nil {
		return err
	}
	if b.WorstWait, err = sizing.WorstWait(w); err != nil {
		return err
	}
	if d := b.Spec.Deadline; d != nil {
		fits := b.WorstWait.Cmp(d) <= 0
		b.FitsDeadline = &fits
		if !fits {
			b.note(NoteDeadline, "the worst wait of %s does not fit the deadline of %s", sizing.FormatDuration(b.WorstWait), sizing.FormatDuration(d))
		}
	}
	return nil
}

// callTime is one call with all its attempts and backoffs, without the queue.
func (b *Bulkhead) callTime() sizing.Wait {
	w := sizing.Wait{CoversCall: b.Spec.Covers == "call", Attempts: int(b.WorstAttempts), Timeout: b.Spec.Timeout,
		TimeoutFromEnqueue: b.Spec.TimeoutFrom == "enqueue"}
	if r := b.Spec.Retries; r != nil {
		w.BackoffInitial, w.BackoffMax = r.BackoffInitial, r.BackoffMax
	}
	return w
}

func (b *Bulkhead) stall() error {
	effect, err := b.stallWith(*b.Permits)
	if err == nil {
		b.Stall = &effect
	}
	return err
}

// stallWith is what a stall does to so many permits. The rate of a stall is
// that of one process.
func (b *Bulkhead) stallWith(permits int) (sizing.StallEffect, error) {
	stall := sizing.Stall{Permits: permits, Rate: b.Rate, StallAttempts: b.StallAttempts,
		Timeout: b.Spec.Timeout, MeanInFlight: b.MeanInFlight}
	if b.Spec.Covers == "call" && b.Spec.Timeout != nil {
		hold, err := sizing.CallHold(b.callTime())
		if err != nil {
			return sizing.StallEffect{}, err
		}
		stall.CallHold = hold
	}
	return stall.Effect()
}
