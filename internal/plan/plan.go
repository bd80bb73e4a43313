// Package plan joins a bulkhead file with a measurement. It is the only place
// where the two meet: whoever prints, lints, generates or simulates reads a
// Plan and asks nobody else.
package plan

import (
	"math/big"
	"time"

	"github.com/bhsize/bhsize/promquery"
	"github.com/bhsize/bhsize/schema"
	"github.com/bhsize/bhsize/sizing"
)

// Plan is what should be, for every file of a run.
type Plan struct {
	Services []*Service
	Backends []Backend // in order of name, over all services
}

// Service is the plan of one file.
type Service struct {
	Name        string
	File        *schema.File
	Measurement *promquery.Measurement // nil: sized from the file's own traffic
	Bulkheads   []*Bulkhead            // in file order
	Pools       []*Pool                // in file order
	Notes       []string               // about the measurement as a whole
}

// Confidence is how far the numbers of a bulkhead can be trusted.
type Confidence string

// The levels of confidence. None means that there is no number.
const (
	ConfidenceHigh Confidence = "high"
	ConfidenceLow  Confidence = "low"
	ConfidenceNone Confidence = "none"
)

// Bulkhead is one bulkhead with everything derived for it. A nil pointer is
// unknown, never zero. Permits, rates and calls in flight are per process.
type Bulkhead struct {
	Spec    *schema.Bulkhead
	Traffic *Traffic // nil: neither measured nor in the file
	// Measured is the raw measurement, nil without one.
	Measured *promquery.Dependency

	Rate          *big.Rat // calls a second, per process
	Attempts      *big.Rat // m: attempts a call to provision for
	StallAttempts *big.Rat // attempts a call while the dependency stalls
	WorstAttempts int64    // every retry of every layer taken
	SizedBy       SizedBy
	Demand        *big.Rat // rate x m x p99
	Now           *int     // permits in the file
	Wanted        *int     // permits that the bulkhead's own headroom asks for
	Permits       *int     // after the cut plan: what is recommended
	Low, High     *int     // Wanted at the two bounds of the p99's bucket
	MeanInFlight  *float64 // rate x m x mean, erlangs
	ByLoss        *int     // the fewest permits whose shed at peak meets the target; nil without a mean
	TargetShed    float64  // that target
	Shed          *float64 // probability at peak, with Permits
	ShedNow       *float64 // the same with Now
	ShedWindow    *float64 // over all healthy slots, with Permits
	Peakedness    *float64 // z of the arrivals, only where it was measured: Shed is Hayward's then
	QueueShed     *QueueShed
	Blast         *float64 // Permits / pool size
	BlastNow      *float64
	Stall         *sizing.StallEffect
	WorstWait     *big.Rat // seconds, nil without a timeout
	FitsDeadline  *bool    // nil without a deadline or a timeout

	Confidence Confidence
	Doubts     []promquery.Remark // why the confidence is low
	Notes      []promquery.Remark // what a reader should know besides
	Failure    string             // why there is no number
	Next       string             // what to do about it

	processes int // of an instance
}

// SizedBy says which statistic the permits come from.
type SizedBy string

// The ways to size. Auto and Mean both take the smallest cap whose shed at
// peak meets the target: Auto because the file says so, Mean because the p99
// says nothing.
const (
	SizedByP99  SizedBy = "p99"
	SizedByAuto SizedBy = "auto"
	SizedByMean SizedBy = "mean"
)

// QueueShed is the shed probability with a queue: bounds that hold for
// any distribution, and the estimate for exponential holds: M/M/c+D with a
// timeout, M/M/c/K with a length alone.
type QueueShed struct {
	Low, High, About float64
	Law              string
}

// Traffic is what the number rests on, per instance of the service. Measured
// values are rounded up to 3 significant digits, and those are sized from.
type Traffic struct {
	PeakRPS    *big.Rat // the binding one of the two below
	Busiest    *big.Rat // the busiest instance measured; nil from a file
	FleetShare *big.Rat // fleet peak / fewest instances x skew; nil from a file
	FleetPeak  *big.Rat // calls a second of all instances; nil from a file
	PeakAt     time.Time
	Instances  InstanceRange
	P99        *big.Rat // seconds; nil: unknown or clipped
	P99Low     *big.Rat
	P99High    *big.Rat
	Mean       *big.Rat // seconds; nil: unknown
	Level      promquery.Level
	Ends       promquery.Ends
	Calls      *int64
	// AttemptsPerCall is how many attempts a call had where the series counts
	// attempts, to 4 digits; nil: unknown.
	AttemptsPerCall *big.Rat
	Measured        time.Time // day
	Window          *big.Rat  // seconds
	FromFile        bool
	rawSlots        []float64 // fleet calls a second in every healthy slot
	rawFleetMax     float64
}

// InstanceRange is the number of instances of the service that was reckoned with.
type InstanceRange struct {
	Min, Max int  // 0: unknown
	FromFile bool // stated, not counted
}

// FleetBinds says that the peak comes from the fleet's share and not from the
// busiest instance.
func (t *Traffic) FleetBinds() bool {
	return t.FleetShare != nil && t.Busiest != nil && t.PeakRPS.Cmp(t.FleetShare) == 0 && t.Busiest.Cmp(t.FleetShare) < 0
}

// Pool is one pool with its budget.
type Pool struct {
	Spec      *schema.Pool
	Available int   // size - reserved
	Budget    int   // floor(available x overcommit ratio): what permits may add up to
	Now       int   // permits in the file
	NowKnown  bool  // every bulkhead has permits in the file
	Wanted    int   // what the bulkheads' own headroom asks for
	Permits   int   // after the cut plan
	Fits      *bool // Wanted is within Budget; nil: some bulkhead has neither a number nor permits
	Cuts      []sizing.Cut
	Short     int  // permits still missing after all cuts
	SizeFor   *int // size that would do, where it does not fit
	// InstancesFor is the number of instances that would do, where it does not
	// fit; nil: unknown, or no number would.
	InstancesFor *int
	// LeftAfter is what is left of the pool when the 1, 2, 3... largest stall.
	LeftAfter []int
	// Full is the probability that in use reaches the available part, where
	// overcommit is declared; nil: not declared, or a mean is unknown.
	Full *Overcommit
	// ThreadsNeed is the size below which callers that hold several
	// connections can deadlock; nil: not declared.
	ThreadsNeed *int
	Deadlocks   bool     // ThreadsNeed is more than the pool has
	Excess      int      // permits above the budget, before the cuts
	Notes       []string // what could not be computed
	Unsized     []string // bulkheads without a number; their present permits count
}

// Overcommit is the price of a declared bet.
type Overcommit struct {
	Probability  float64 // all compartments at their peak, independent
	WhileStalled float64 // with the largest compartment stalled full
	Stalled      string
}

// Backend is what several pools draw on.
type Backend struct {
	Name      string
	Sizing    sizing.Backend
	Used      int
	Available int
	Fits      *bool    // nil: the number of instances of some service is not known
	Unknown   []string // services whose number of instances is not known
	// MostInstances is how many instances of the first service that draws on it
	// would fit, surge included; nil where it fits or that is unknown.
	MostInstances *int
}

// Fits says whether every recommendation fits its pool uncut, and every backend
// holds; what is unknown is no reason against it.
func (p *Plan) Fits() bool {
	for _, s := range p.Services {
		for _, pool := range s.Pools {
			if pool.Fits != nil && !*pool.Fits {
				return false
			}
		}
	}
	for _, b := range p.Backends {
		if b.Fits != nil && !*b.Fits {
			return false
		}
	}
	return true
}

// Writable says whether every recommendation fits after the cuts.
func (p *Plan) Writable() bool {
	for _, s := range p.Services {
		for _, pool := range s.Pools {
			if pool.Short > 0 {
				return false
			}
		}
	}
	return true
}

// Each calls do for every bulkhead of the plan.
func (p *Plan) Each(do func(*Service, *Bulkhead)) {
	for _, s := range p.Services {
		for _, b := range s.Bulkheads {
			do(s, b)
		}
	}
}

// Names lists the bulkheads for which is holds.
func (p *Plan) Names(is func(*Bulkhead) bool) []string {
	var names []string
	p.Each(func(_ *Service, b *Bulkhead) {
		if is(b) {
			names = append(names, b.Spec.Name)
		}
	})
	return names
}
