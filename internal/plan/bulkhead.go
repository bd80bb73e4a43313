package plan

import (
	"fmt"
	"math/big"

	"github.com/bhsize/bhsize/promquery"
	"github.com/bhsize/bhsize/sizing"
)

// size derives everything about one bulkhead but for what depends on its pool.
func (b *Bulkhead) size() {
	if b.Failure != "" {
		return
	}
	if err := b.derive(); err != nil {
		b.fail(err.Error(), "check the traffic, and the unit of the series")
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

func (b *Bulkhead) derive() error {
	var err error
	if b.WorstAttempts, err = b.retries().WorstAttempts(); err != nil {
		return err
	}
	if b.StallAttempts, err = b.retries().StallAttempts(b.Traffic.PeakRPS); err != nil {
		return err
	}
	b.SizedBy = b.sizedBy()
	n, err := b.needAt(b.Traffic.PeakRPS, one)
	if err != nil {
		return err
	}
	b.Rate, b.Attempts, b.Demand, b.MeanInFlight, b.ByLoss, b.Wanted = n.rate, n.attempts, n.demand, n.meanInFlight, n.byLoss, n.wanted
	b.noteRetries()
	if b.clipped() && b.SizedBy == SizedByP99 {
		b.failClipped()
		return nil
	}
	if b.Wanted == nil {
		b.failUnknown()
		return nil
	}
	if b.SizedBy == SizedByP99 {
		b.Low, b.High = b.permitsAt(b.Traffic.P99Low), b.permitsAt(b.Traffic.P99High)
	}
	b.censor()
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

func (b *Bulkhead) clipped() bool { return b.Measured != nil && b.Measured.P99.Clipped() }

func (b *Bulkhead) failClipped() {
	why := fmt.Sprintf("the p99 lies above the highest bucket bound, %s", duration(b.Measured.P99.TopBound))
	if b.MeanInFlight != nil {
		why += fmt.Sprintf(" (the mean, %s, is known: %.3g calls in flight at peak)", sizing.FormatDuration(b.Traffic.Mean), *b.MeanInFlight)
	}
	b.fail(why, "give the histogram higher bounds, or size by the mean with headroom: auto")
}

func (b *Bulkhead) failUnknown() {
	if b.SizedBy == SizedByP99 {
		b.fail("there is no p99"+b.because(promquery.RemarkNoBounds), "write traffic.p99, measure it, or use headroom: auto with a mean")
		return
	}
	b.fail("there is no mean to size by", "measure the sum of durations (a histogram has it as _sum), or name a headroom factor and have a p99")
}

// because quotes a doubt, where there is one of that kind.
func (b *Bulkhead) because(id string) string {
	for _, d := range b.Doubts {
		if d.ID == id {
			return ": " + d.Text
		}
	}
	return ""
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

// Censored says that the limit in force rejected calls while they were counted,
// so that the rate is a floor; and how many it rejected.
func (b *Bulkhead) Censored() (rejected float64, is bool) {
	switch {
	case b.Measured != nil:
		rejected = b.Measured.Rejected
	case b.Spec.Traffic != nil && b.Spec.Traffic.Rejected != nil:
		rejected = float64(*b.Spec.Traffic.Rejected)
	}
	return rejected, rejected > 0
}

// censor keeps a recommendation from feeding on its own limit: on a rate that
// is a floor it never shrinks. A cut may still take it below; that is said.
func (b *Bulkhead) censor() {
	rejected, censored := b.Censored()
	if !censored || b.Now == nil || *b.Wanted >= *b.Now {
		return
	}
	b.note(NoteCensored, "%d would do for what was served, but the present limit rejected %.0f calls: not shrunk below the present %d", *b.Wanted, rejected, *b.Now)
	kept := *b.Now
	b.Wanted = &kept
}

// The notes that a bulkhead can have.
const (
	NoteUnbudgeted = "retries-unbudgeted" // sized for every retry of every call
	NoteCounted    = "retries-counted"    // the measured attempts may contain retries
	NoteEnds       = "latency-ends-early"
	NoteBackoff    = "backoff-uncounted"
	NoteCensored   = "censored"
	NoteCutBelow   = "censored-and-cut"
	NoteNoTimeout  = "no-timeout"
	NoteDeadline   = "deadline"
	NoteSheds      = "sheds"
	NoteUnknown    = "not-computed"
)

func (b *Bulkhead) note(id, format string, args ...any) {
	b.Notes = append(b.Notes, promquery.Remark{ID: id, Text: fmt.Sprintf(format, args...)})
}

func (b *Bulkhead) noteRetries() {
	if b.callInCall() || b.WorstAttempts <= 1 {
		return
	}
	if b.retries().Unbudgeted() {
		b.note(NoteUnbudgeted, "no retry budget and no failure_ratio: sized for all %d attempts of every call", b.WorstAttempts)
	}
	if b.Traffic.Level == promquery.LevelAttempt && b.Traffic.AttemptsPerCall == nil && b.Attempts.Cmp(one) > 0 {
		b.note(NoteCounted, "the series counts attempts, so the measured rate may contain retries already, and they are provisioned for on top: permits may be too many by that factor; name a counter of whole calls with prometheus.series.calls")
	}
}

// noteSeries says what holds for every bulkhead of the series.
func (b *Bulkhead) noteSeries() {
	if e := b.Traffic.Ends; e == promquery.EndsHeaders || e == promquery.EndsFirstByte {
		b.note(NoteEnds, "the latency ends at the %s, before the permit is released: permits may be too few for streamed bodies", e)
	}
	if b.Spec.Covers == "call" && b.Traffic.Level == promquery.LevelAttempt {
		b.note(NoteBackoff, "a permit covers the whole call, the series measures attempts: backoff between attempts is not in the number")
	}
}
