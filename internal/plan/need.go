package plan

import (
	"math/big"

	"github.com/bhsize/bhsize/promquery"
	"github.com/bhsize/bhsize/sizing"
)

// need is what a bulkhead needs at one load, per process.
type need struct {
	rate         *big.Rat // calls a second, per process
	attempts     *big.Rat // m
	demand       *big.Rat // rate x m x p99; nil without a p99
	meanInFlight *float64 // rate x m x mean; nil without a mean
	byLoss       *int     // fewest permits that meet the target shed; nil without a mean
	wanted       *int     // by the bulkhead's own headroom; nil: what that needs is unknown
}

var one = big.NewRat(1, 1)

// needAt works out the need at a rate per instance, and at so many times the
// latency that was measured. It is the one place where a load becomes permits.
func (b *Bulkhead) needAt(perInstance, slower *big.Rat) (need, error) {
	n := need{rate: new(big.Rat).Quo(perInstance, big.NewRat(int64(b.processes), 1))}
	var err error
	if n.attempts, err = b.attemptsAt(perInstance); err != nil {
		return n, err
	}
	if mean := b.Traffic.Mean; mean != nil {
		if err := b.needByMean(&n, new(big.Rat).Mul(mean, slower)); err != nil {
			return n, err
		}
	}
	if p99 := b.Traffic.P99; p99 != nil {
		n.demand = sizing.Demand(n.rate, n.attempts, new(big.Rat).Mul(p99, slower))
	}
	return n, b.want(&n)
}

func (b *Bulkhead) needByMean(n *need, mean *big.Rat) error {
	a, err := sizing.MeanInFlight(n.rate, n.attempts, mean)
	if err != nil {
		return err
	}
	permits, err := b.permitsForShed(a)
	n.meanInFlight, n.byLoss = &a, &permits
	return err
}

// want applies the headroom, or the target shed where the mean sizes.
func (b *Bulkhead) want(n *need) error {
	switch {
	case b.SizedBy != SizedByP99:
		n.wanted = n.byLoss
		return nil
	case n.demand == nil:
		return nil
	}
	permits, err := sizing.Permits(n.demand, b.Spec.Headroom.Factor)
	n.wanted = &permits
	return err
}

// retries is the policy, one attempt where the file names none.
func (b *Bulkhead) retries() sizing.Retries {
	if r := b.Spec.Retries; r != nil {
		return r.Retries
	}
	return sizing.Retries{MaxAttempts: 1}
}

// attemptsAt is m. What the measured series counts decides: a permit that
// covers the call, on rate and durations of whole calls, has the retries in
// both; a rate of attempts has those in it that happened, which m is divided by.
// A budget's minimum is a rate per instance, so m depends on the rate.
func (b *Bulkhead) attemptsAt(perInstance *big.Rat) (*big.Rat, error) {
	if b.callInCall() {
		return one, nil
	}
	observed := b.Traffic.AttemptsPerCall
	if b.Traffic.Level != promquery.LevelAttempt || observed == nil {
		return b.retries().Attempts(perInstance)
	}
	m, err := b.retries().Attempts(new(big.Rat).Quo(perInstance, observed))
	if err != nil {
		return nil, err
	}
	return sizing.Unmeasured(m, observed)
}

// CallRate is the peak of whole calls a second per instance, which a retry
// budget's minimum is held against.
func (b *Bulkhead) CallRate() *big.Rat {
	if observed := b.Traffic.AttemptsPerCall; b.Traffic.Level == promquery.LevelAttempt && observed != nil {
		return new(big.Rat).Quo(b.Traffic.PeakRPS, observed)
	}
	return b.Traffic.PeakRPS
}

func (b *Bulkhead) callInCall() bool {
	return b.Spec.Covers == "call" && b.Traffic.Level == promquery.LevelCall
}

// permitsForShed is the fewest permits whose shed probability meets the target.
func (b *Bulkhead) permitsForShed(a float64) (int, error) {
	if b.Peakedness != nil && *b.Peakedness != 1 {
		return sizing.PermitsForShedPeaked(a, *b.Peakedness, b.TargetShed)
	}
	return sizing.PermitsForShed(a, b.TargetShed)
}

// shedWith is the probability that one of permits is not free at a load of a
// erlangs; nil where either is unknown.
func (b *Bulkhead) shedWith(permits *int, a *float64) (*float64, error) {
	if permits == nil || a == nil {
		return nil, nil
	}
	if b.Peakedness != nil && *b.Peakedness != 1 {
		p, err := sizing.Hayward(*a, float64(*permits), *b.Peakedness)
		return &p, err
	}
	p, err := sizing.ErlangB(*a, *permits)
	return &p, err
}
