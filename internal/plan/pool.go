package plan

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/bhsize/bhsize/schema"
	"github.com/bhsize/bhsize/sizing"
)

// maxStalls is how many simultaneous stalls are stated at most.
const maxStalls = 3

// buildPool adds up the bulkheads of a pool, cuts where they do not fit, and
// settles every bulkhead's final numbers.
func buildPool(spec *schema.Pool, all []*Bulkhead) (*Pool, error) {
	p := &Pool{Spec: spec, Available: spec.Size - spec.Reserved, NowKnown: true}
	mine := slices.DeleteFunc(slices.Clone(all), func(b *Bulkhead) bool { return b.Spec.Pool != spec.Name })
	var err error
	if p.Budget, err = spec.Sizing().Available(); err != nil {
		return nil, err
	}
	p.add(mine)
	p.Excess = max(0, p.Wanted-p.Budget)
	p.Fits = p.verdict(mine)
	if p.Excess > 0 {
		if err := p.cut(mine); err != nil {
			return nil, err
		}
		p.remedy(mine)
	}
	for _, b := range mine {
		b.settle(spec.Size)
	}
	return p, p.risks(mine)
}

// verdict is unknown where a bulkhead takes a part that nobody knows, unless
// the others alone are too many.
func (p *Pool) verdict(mine []*Bulkhead) *bool {
	unknown := slices.ContainsFunc(mine, func(b *Bulkhead) bool { return b.Wanted == nil && b.Now == nil })
	fits := p.Excess == 0
	if fits && unknown {
		return nil
	}
	return &fits
}

// add sums the permits; a bulkhead without a number keeps what it has now.
func (p *Pool) add(mine []*Bulkhead) {
	for _, b := range mine {
		if b.Now != nil {
			p.Now += *b.Now
		} else {
			p.NowKnown = false
		}
		if b.Wanted == nil {
			p.Unsized = append(p.Unsized, b.Spec.Name)
		}
		p.Wanted += held(b)
		b.Permits = b.Wanted
	}
	p.Permits = p.Wanted
}

// held is what a bulkhead takes of its pool.
func held(b *Bulkhead) int {
	switch {
	case b.Wanted != nil:
		return *b.Wanted
	case b.Now != nil:
		return *b.Now
	}
	return 0
}

func (p *Pool) cut(mine []*Bulkhead) error {
	var compartments []sizing.Compartment
	fixed := 0
	for _, b := range mine {
		if b.Wanted == nil {
			fixed += held(b)
			continue
		}
		c, err := compartment(b)
		if err != nil {
			return err
		}
		compartments = append(compartments, c)
	}
	plan, err := sizing.PlanCuts(compartments, max(0, p.Budget-fixed))
	if err != nil {
		return err
	}
	p.Cuts, p.Permits = plan.Cuts, plan.Total+fixed
	p.Short = max(0, p.Permits-p.Budget)
	for _, b := range mine {
		if n, ok := plan.Permits[b.Spec.Name]; ok {
			b.Permits = &n
		}
	}
	return nil
}

// compartment is a bulkhead as the cut plan sees it. Sized by its mean it has
// no p99 demand to stop at first: the mean in flight is the floor at once.
func compartment(b *Bulkhead) (sizing.Compartment, error) {
	c := sizing.Compartment{Name: b.Spec.Name, Criticality: b.Spec.Criticality, Permits: *b.Wanted,
		Rate: sizing.Float(new(big.Rat).Mul(b.Rate, b.Attempts)), MeanInFlight: b.MeanInFlight}
	if b.Demand == nil || b.SizedBy == SizedByMean {
		return c, nil
	}
	floor, err := sizing.Ceil(b.Demand)
	c.DemandFloor = &floor
	return c, err
}

// remedy finds what would make the recommendation fit uncut.
func (p *Pool) remedy(mine []*Bulkhead) {
	if size, err := p.Spec.Sizing().SizeFor(p.Wanted); err == nil {
		p.SizeFor = &size
	}
	p.InstancesFor = instancesFor(mine, p.Budget)
}

// maxInstances bounds the search for a number of instances that would do.
const maxInstances = 1 << 20

// instancesFor is the smallest number of instances at which the permits fit,
// the load being spread evenly over them; nil where the present number is
// unknown or no number would do. Permits fall with the rate, so the number is
// found by doubling and bisection.
func instancesFor(mine []*Bulkhead, budget int) *int {
	now := 0
	for _, b := range mine {
		if b.Wanted != nil && b.Traffic.Instances.Min == 0 {
			return nil
		}
		if b.Wanted != nil {
			now = max(now, b.Traffic.Instances.Min)
		}
	}
	fits := func(n int) bool { return wantedAt(mine, now, n) <= budget }
	if now == 0 || !fits(maxInstances) {
		return nil
	}
	high := now
	for !fits(high) {
		high *= 2
	}
	low := now
	for low < high {
		if mid := (low + high) / 2; fits(mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return &high
}

// wantedAt is the sum of permits with n instead of now instances. A retry
// budget's minimum weighs more at a lower rate, so every need is worked out anew.
func wantedAt(mine []*Bulkhead, now, n int) int {
	sum := 0
	for _, b := range mine {
		if b.Wanted == nil {
			sum += held(b)
			continue
		}
		share := new(big.Rat).Mul(b.Traffic.PeakRPS, big.NewRat(int64(now), int64(n)))
		need, err := b.needAt(share, one)
		if err != nil || need.wanted == nil {
			return math.MaxInt
		}
		sum += *need.wanted
	}
	return sum
}

// risks states what several stalls leave, what overcommit costs, and whether
// callers that hold several connections can deadlock.
func (p *Pool) risks(mine []*Bulkhead) error {
	var holds []int
	for _, b := range mine {
		holds = append(holds, final(b))
	}
	for k := 1; k <= min(maxStalls, len(holds)); k++ {
		p.LeftAfter = append(p.LeftAfter, sizing.PoolLeft(p.Spec.Size, holds, k))
	}
	if t, k := p.Spec.Threads, p.Spec.ConnectionsPerCall; t != nil && k != nil {
		need, err := sizing.ThreadsNeeded(*t, *k)
		if err != nil {
			return err
		}
		p.ThreadsNeed, p.Deadlocks = &need, need > p.Spec.Size
	}
	if p.Spec.Overcommit == nil {
		return nil
	}
	if err := p.priceOvercommit(mine); err != nil {
		p.Notes = append(p.Notes, "the price of overcommitting is unknown: "+err.Error())
	}
	return nil
}

// final is what a bulkhead ends up with.
func final(b *Bulkhead) int {
	if b.Permits != nil {
		return *b.Permits
	}
	return held(b)
}

func (p *Pool) priceOvercommit(mine []*Bulkhead) error {
	var loads []sizing.Load
	for _, b := range mine {
		if b.MeanInFlight == nil || b.Permits == nil {
			return nil
		}
		loads = append(loads, sizing.Load{A: *b.MeanInFlight, Permits: *b.Permits})
	}
	if len(loads) == 0 {
		return nil
	}
	full, _, err := sizing.ProbabilityFull(loads, p.Available)
	if err != nil {
		return err
	}
	largest := slices.Index(mine, slices.MaxFunc(mine, func(a, b *Bulkhead) int { return cmp.Compare(final(a), final(b)) }))
	stalled, _, err := sizing.ProbabilityFullStalled(loads, largest, p.Available)
	if err != nil {
		return err
	}
	p.Full = &Overcommit{Probability: full, WhileStalled: stalled, Stalled: mine[largest].Spec.Name}
	return nil
}
