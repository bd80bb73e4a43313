package sizing

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Compartment is one bulkhead as the cut plan sees it.
type Compartment struct {
	Name         string
	Criticality  Criticality
	Permits      int      // recommended
	DemandFloor  *int     // ceil(demand): the p99 demand without headroom; nil: none is known
	Rate         float64  // attempts a second, rate x m
	MeanInFlight *float64 // a, offered load in erlangs; nil: unknown
}

// Cut is what one compartment gives up.
type Cut struct {
	Name        string
	Criticality Criticality
	From, To    int
	Phase       CutPhase // the last one that took a permit
	ShedBefore  *float64 // shed probability with From permits; nil: the load is unknown
	ShedAfter   *float64 // with To permits
}

// CutPhase says how deep a cut goes.
type CutPhase int

const (
	// CutHeadroom takes headroom: permits stay at or above ceil(demand).
	CutHeadroom CutPhase = iota
	// CutDemand goes below the p99 demand, down to the mean in flight.
	CutDemand
	// CutToMean takes headroom too, from a compartment that the mean in flight
	// bounds alone: no p99 demand is known, or the mean is above it.
	CutToMean
)

// String says what the phase takes.
func (p CutPhase) String() string {
	switch p {
	case CutHeadroom:
		return "headroom, down to the p99 demand"
	case CutDemand:
		return "below the p99 demand, down to the mean in flight"
	case CutToMean:
		return "headroom, down to the mean in flight"
	}
	return fmt.Sprintf("cut phase(%d)", int(p))
}

// CutPlan is how compartments come to fit their pool.
type CutPlan struct {
	Cuts    []Cut          // optional before standard, then by name
	Permits map[string]int // of every compartment, after the cuts
	Total   int            // sum of Permits
	Fits    bool           // Total is at most available
	Short   int            // Total - available where it does not fit, else 0
}

// PlanCuts makes compartments fit so many available permits. It takes from
// optional ones, then from standard ones, each down to max(1, ceil(demand),
// ceil(a)); then again from optional and from standard ones, down to max(1,
// ceil(a)). Critical ones it leaves alone, and it stops as soon as all fits. What
// is unknown bounds nothing, but a compartment of which neither demand nor load
// is known is not cut at all: nothing says what it can do without.
//
// Within a class it takes one permit at a time where that costs least: rate x
// the rise in Erlang B, in shed attempts a second, ties by name. As Erlang B is
// convex in the permits, no other choice within the class is cheaper. A
// compartment of unknown load has no price: it gives way after the priced ones
// of its class, most permits above its floor first, and never below its demand.
//
// Empty or repeated names, unknown criticalities, permits outside 1 to
// MaxPermits, negative floors, rates and loads, and a negative available are
// errors. That it does not fit is not: see CutPlan.Short.
func PlanCuts(compartments []Compartment, available int) (CutPlan, error) {
	if available < 0 {
		return CutPlan{}, fmt.Errorf("available is %d: give a number of at least 0", available)
	}
	total, err := checkCompartments(compartments)
	if err != nil {
		return CutPlan{}, err
	}
	all := make([]*shrinking, len(compartments))
	for i, c := range compartments {
		all[i] = newShrinking(c)
	}
	excess := total - available
	for _, deep := range []bool{false, true} {
		for _, class := range givingWay {
			if excess > 0 {
				excess -= shrink(class.in(all, deep), excess)
			}
		}
	}
	return describeCuts(all, available), nil
}

// checkCompartments returns the sum of their permits.
func checkCompartments(compartments []Compartment) (total int, err error) {
	seen := make(map[string]bool, len(compartments))
	for _, c := range compartments {
		if c.Name == "" || seen[c.Name] {
			return 0, fmt.Errorf("compartment name %q is empty or used twice: give each its own", c.Name)
		}
		seen[c.Name] = true
		if err := c.check(); err != nil {
			return 0, fmt.Errorf("compartment %q: %w", c.Name, err)
		}
		total += c.Permits // at most MaxPermits each: no overflow
	}
	return total, nil
}

func (c Compartment) check() error {
	if c.Criticality != Critical && !slices.Contains(givingWay, c.Criticality) {
		return fmt.Errorf("%v is unknown: use critical, standard or optional", c.Criticality)
	}
	if c.DemandFloor != nil && *c.DemandFloor < 0 {
		return fmt.Errorf("demand floor is %d: give a number of at least 0", *c.DemandFloor)
	}
	if c.MeanInFlight != nil {
		if err := checkLoad("mean in flight", *c.MeanInFlight); err != nil {
			return err
		}
	}
	return firstError(checkPermits(c.Permits), checkNumber("rate", c.Rate))
}

func newShrinking(c Compartment) *shrinking {
	s := &shrinking{Compartment: c, now: c.Permits}
	if c.MeanInFlight != nil {
		s.price = &prices{a: *c.MeanInFlight, rate: c.Rate}
	}
	return s
}

// in returns the compartments of the class with their floors set: those of the
// second round where it goes deep.
func (class Criticality) in(all []*shrinking, deep bool) []*shrinking {
	var members []*shrinking
	for _, s := range all {
		if s.Criticality == class {
			s.floor, s.phase = s.limit(deep)
			members = append(members, s)
		}
	}
	return members
}

// limit returns how far a round may cut, and what bounds it there.
func (c Compartment) limit(deep bool) (floor int, bound CutPhase) {
	demand, mean := c.DemandFloor, c.meanFloor()
	switch {
	case demand == nil && mean == nil:
		return c.Permits, CutHeadroom
	case demand == nil || mean != nil && *mean > *demand:
		return max(1, *mean), CutToMean
	case deep && mean != nil:
		return max(1, *mean), CutDemand
	}
	return max(1, *demand), CutHeadroom
}

// meanFloor returns ceil(a), nil where a is unknown.
func (c Compartment) meanFloor() *int {
	if c.MeanInFlight == nil {
		return nil
	}
	n := int(min(math.Ceil(*c.MeanInFlight), MaxPermits))
	return &n
}

// describeCuts states the outcome and what each cut costs.
func describeCuts(all []*shrinking, available int) CutPlan {
	plan := CutPlan{Permits: make(map[string]int, len(all))}
	for _, s := range all {
		plan.Permits[s.Name] = s.now
		plan.Total += s.now
		if s.now == s.Permits {
			continue
		}
		plan.Cuts = append(plan.Cuts, s.cut())
	}
	slices.SortFunc(plan.Cuts, func(x, y Cut) int {
		return cmp.Or(
			cmp.Compare(slices.Index(givingWay, x.Criticality), slices.Index(givingWay, y.Criticality)),
			cmp.Compare(x.Name, y.Name))
	})
	plan.Fits = plan.Total <= available
	plan.Short = max(0, plan.Total-available)
	return plan
}

func (s *shrinking) cut() Cut {
	c := Cut{Name: s.Name, Criticality: s.Criticality, From: s.Permits, To: s.now, Phase: s.deepest}
	if s.price != nil {
		before, after := erlangB(s.price.a, float64(c.From)), erlangB(s.price.a, float64(c.To))
		c.ShedBefore, c.ShedAfter = &before, &after
	}
	return c
}
