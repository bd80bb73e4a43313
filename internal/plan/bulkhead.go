package plan

import (
	"fmt"
	"math/big"

	"github.com/bhsize/bhsize/promquery"
	"github.com/bhsize/bhsize/schema"
	"github.com/bhsize/bhsize/sizing"
)

// size derives everything about one bulkhead but for what depends on its pool.
func (b *Bulkhead) size(f *schema.File) {
	if b.Failure != "" {
		return
	}
	if err := b.derive(f); err != nil {
		b.fail(err.Error(), "check the traffic and the unit of the series")
		return
	}
	if b.Failure != "" {
		return
	}
	b.Confidence = ConfidenceHigh
	if len(b.Doubts) > 0 {
		b.Confidence = ConfidenceLow
	}
}

func (b *Bulkhead) fail(why, next string) {
	b.Failure, b.Next, b.Confidence, b.Wanted = why, next, ConfidenceNone, nil
}

func (b *Bulkhead) derive(f *schema.File) error {
	b.Rate = new(big.Rat).Quo(b.Traffic.PeakRPS, big.NewRat(int64(f.Processes), 1))
	if err := b.attempts(); err != nil {
		return err
	}
	if mean := b.Traffic.Mean; mean != nil {
		a, err := sizing.MeanInFlight(b.Rate, b.Attempts, mean)
		if err != nil {
			return err
		}
		b.MeanInFlight = &a
		n, err := b.permitsForShed(a)
		if err != nil {
			return err
		}
		b.ByLoss = &n
	}
	if b.Traffic.P99 != nil {
		b.Demand = sizing.Demand(b.Rate, b.Attempts, b.Traffic.P99)
	}
	if err := b.worstWait(); err != nil {
		return err
	}
	if err := b.want(); err != nil || b.Failure != "" {
		return err
	}
	b.censor()
	return nil
}

// attempts finds m. What the measured series counts decides: retries that are
// in the measurement already are not provisioned for a second time.
func (b *Bulkhead) attempts() error {
	policy := sizing.Retries{MaxAttempts: 1}
	if r := b.Spec.Retries; r != nil {
		policy = r.Retries
	}
	var err error
	if b.WorstAttempts, err = policy.WorstAttempts(); err != nil {
		return err
	}
	if b.StallAttempts, err = policy.StallAttempts(b.Rate); err != nil {
		return err
	}
	if b.callInCall() {
		b.Attempts = big.NewRat(1, 1)
		return nil
	}
	if b.Attempts, err = policy.Attempts(b.Rate); err != nil {
		return err
	}
	if policy.Unbudgeted() {
		b.note("no retry budget and no failure_ratio: sized for all %d attempts of every call", b.WorstAttempts)
	}
	if b.Traffic.Level == promquery.LevelAttempt && b.Attempts.Cmp(big.NewRat(1, 1)) > 0 {
		b.note("the series counts attempts, so the measured rate may contain retries already, and they are provisioned for on top: permits may be too many by that factor")
	}
	return nil
}

// callInCall: the permit is held for the whole call and the series measures
// whole calls, so its rate and its duration contain the retries.
func (b *Bulkhead) callInCall() bool {
	return b.Spec.Covers == "call" && b.Traffic.Level == promquery.LevelCall
}

// want finds the permits that the bulkhead's own headroom asks for.
func (b *Bulkhead) want() error {
	b.SizedBy = b.sizedBy()
	if b.SizedBy == SizedByP99 {
		return b.wantByP99()
	}
	if b.MeanInFlight == nil {
		b.fail("there is no mean, and headroom: auto needs one", "measure the sum of durations (series with _sum), or name a headroom factor")
		return nil
	}
	n := *b.ByLoss
	b.Wanted = &n
	return nil
}

func (b *Bulkhead) sizedBy() SizedBy {
	switch {
	case b.Spec.Headroom.Auto:
		return SizedByAuto
	case b.Measured != nil && b.Measured.QuantileDoubt != nil, b.Traffic.FromFile && b.Traffic.P99 == nil && b.Traffic.Mean != nil:
		return SizedByMean
	}
	return SizedByP99
}

func (b *Bulkhead) wantByP99() error {
	if b.Measured != nil && b.Measured.P99.Clipped() {
		b.failClipped()
		return nil
	}
	if b.Demand == nil {
		b.fail("there is no p99", "write traffic.p99, measure it, or use headroom: auto with a mean")
		return nil
	}
	n, err := sizing.Permits(b.Demand, b.Spec.Headroom.Factor)
	if err != nil {
		return err
	}
	b.Wanted = &n
	b.Low, b.High = b.permitsAt(b.Traffic.P99Low), b.permitsAt(b.Traffic.P99High)
	return nil
}

func (b *Bulkhead) failClipped() {
	why := fmt.Sprintf("the p99 lies above the highest bucket bound, %s", duration(b.Measured.P99.TopBound))
	if b.MeanInFlight != nil {
		why += fmt.Sprintf(" (the mean, %s, is known: %.3g calls in flight at peak)", sizing.FormatDuration(b.Traffic.Mean), *b.MeanInFlight)
	}
	b.fail(why, "give the histogram higher bounds, or size by the mean with headroom: auto")
}

func duration(seconds float64) string {
	r := new(big.Rat)
	if r.SetFloat64(seconds) == nil {
		return "unknown"
	}
	return sizing.FormatDuration(r)
}

// permitsAt is Wanted with another p99; nil where that is unknown.
func (b *Bulkhead) permitsAt(p99 *big.Rat) *int {
	if p99 == nil {
		return nil
	}
	n, err := sizing.Permits(sizing.Demand(b.Rate, b.Attempts, p99), b.Spec.Headroom.Factor)
	if err != nil {
		return nil
	}
	return &n
}

// censor keeps a recommendation from feeding on its own limit: where the
// present limit rejected calls, the measured rate is a floor.
func (b *Bulkhead) censor() {
	if b.Measured == nil || !(b.Measured.Rejected > 0) || b.Now == nil || *b.Wanted >= *b.Now {
		return
	}
	b.note("%d would do for what was served, but the present limit rejected %.0f calls: not shrunk below the present %d", *b.Wanted, b.Measured.Rejected, *b.Now)
	kept := *b.Now
	b.Wanted = &kept
}

func (b *Bulkhead) note(format string, args ...any) {
	b.Notes = append(b.Notes, fmt.Sprintf(format, args...))
}

// notes about the series that hold for every bulkhead of the measurement.
func (b *Bulkhead) noteSeries() {
	if e := b.Traffic.Ends; e == promquery.EndsHeaders || e == promquery.EndsFirstByte {
		b.note("the latency ends at the %s, before the permit is released: permits may be too few for streamed bodies", e)
	}
	if b.Spec.Covers == "call" && b.Traffic.Level == promquery.LevelAttempt {
		b.note("a permit covers the whole call, the series measures attempts: backoff between attempts is not in the number")
	}
}

// settle derives what depends on the final permits and on the size of the
// pool; 0: there is no pool.
func (b *Bulkhead) settle(size int) error {
	b.BlastNow = blast(b.Now, size)
	if b.Permits == nil {
		return nil
	}
	b.Blast = blast(b.Permits, size)
	if err := b.stall(); err != nil {
		return err
	}
	if b.MeanInFlight == nil {
		return nil
	}
	return b.shed()
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

func (b *Bulkhead) shed() error {
	var err error
	if b.Shed, err = b.ShedWith(b.Permits, 1); err != nil {
		return err
	}
	if b.ShedNow, err = b.ShedWith(b.Now, 1); err != nil {
		return err
	}
	if rates := b.Traffic.slotRates(sizing.Float(b.Rate)); rates != nil {
		hold := sizing.Float(b.Attempts) * sizing.Float(b.Traffic.Mean)
		over, err := sizing.ShedOverWindow(rates, hold, *b.Permits)
		if err != nil {
			return err
		}
		b.ShedWindow = &over
	}
	b.noteShed()
	return b.queueShed(*b.MeanInFlight)
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
	b.note("%.2g %% of the calls would be shed at peak although all is well: %d permits would meet the target of %.2g %% (headroom: auto)",
		100**b.Shed, *b.ByLoss, 100*b.TargetShed)
}

// ShedWith is the shed probability with another number of permits, at so many
// times the load at peak; nil where either is unknown.
func (b *Bulkhead) ShedWith(permits *int, load float64) (*float64, error) {
	if permits == nil || b.MeanInFlight == nil {
		return nil, nil
	}
	z := 1.0
	if b.Peakedness != nil {
		z = *b.Peakedness
	}
	p, err := shedProbability(*b.MeanInFlight*load, *permits, z)
	return &p, err
}

func shedProbability(a float64, permits int, z float64) (float64, error) {
	if z == 1 {
		return sizing.ErlangB(a, permits)
	}
	return sizing.Hayward(a, float64(permits), z)
}

// permitsForShed is the inverse: the fewest permits that meet the target.
func (b *Bulkhead) permitsForShed(a float64) (int, error) {
	if b.Peakedness != nil && *b.Peakedness != 1 {
		return sizing.PermitsForShedPeaked(a, *b.Peakedness, b.TargetShed)
	}
	return sizing.PermitsForShed(a, b.TargetShed)
}

func (b *Bulkhead) queueShed(a float64) error {
	q := b.Spec.Queue
	if q == nil || q.Timeout == nil || a <= 0 {
		return nil
	}
	low, high, err := sizing.QueueShedBounds(a, *b.Permits)
	if err != nil {
		return err
	}
	about, err := sizing.MMCD(a, *b.Permits, sizing.Float(q.Timeout)/sizing.Float(b.Traffic.Mean))
	if err != nil {
		return err
	}
	b.QueueShed = &QueueShed{Low: low, High: high, About: about.Reject}
	return nil
}

func (b *Bulkhead) stall() error {
	effect, err := sizing.Stall{Permits: *b.Permits, Rate: b.Rate, StallAttempts: b.StallAttempts,
		Timeout: b.Spec.Timeout, MeanInFlight: b.MeanInFlight}.Effect()
	if err != nil {
		return err
	}
	b.Stall = &effect
	return nil
}

// worstWait is how long a caller may wait at worst, against its deadline.
func (b *Bulkhead) worstWait() error {
	if b.Spec.Timeout == nil {
		b.note("no call timeout: a stalled call holds its permit for as long as the transport lets it")
		return nil
	}
	w := sizing.Wait{CoversCall: b.Spec.Covers == "call", Attempts: int(b.WorstAttempts), Timeout: b.Spec.Timeout,
		TimeoutFromEnqueue: b.Spec.TimeoutFrom == "enqueue"}
	if q := b.Spec.Queue; q != nil {
		w.QueueWait = q.Timeout
	}
	if r := b.Spec.Retries; r != nil {
		w.BackoffInitial, w.BackoffMax = r.BackoffInitial, r.BackoffMax
	}
	worst, err := sizing.WorstWait(w)
	if err != nil {
		return err
	}
	b.WorstWait = worst
	if d := b.Spec.Deadline; d != nil {
		fits := worst.Cmp(d) <= 0
		b.FitsDeadline = &fits
		if !fits {
			b.note("the worst wait of %s does not fit the deadline of %s", sizing.FormatDuration(worst), sizing.FormatDuration(d))
		}
	}
	return nil
}
