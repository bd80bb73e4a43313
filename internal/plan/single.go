package plan

import (
	"math/big"
	"slices"

	"github.com/bhsize/bhsize/schema"
	"github.com/bhsize/bhsize/sizing"
)

// Single is one bulkhead without a file: what the calculator works out.
type Single struct {
	*Bulkhead
	Pool      *schema.Pool // nil: none was named
	Instances int          // 0: not named
	Neighbors []Neighbor
	WhatIf    []WhatIf
}

// Neighbor is what another number of permits would do.
type Neighbor struct {
	Permits       int
	Shed          *float64 // at peak
	ShedMoreRate  *float64 // at 1.2 times the rate
	ShedSlower    *float64 // at twice the latency
	Fill          *float64 // seconds until a stall holds all of them, from the mean in flight on
	FillFromEmpty *float64 // the same from none
	Blast         *float64
}

// WhatIf is what another load would need, and what it would do to Permits.
type WhatIf struct {
	Load    string
	Permits *int     // needed for it
	Shed    *float64 // with the present number
}

// SingleInput is what the calculator is given.
type SingleInput struct {
	Spec       schema.Bulkhead // Traffic set, Permits: evaluate this number instead
	Pool       *schema.Pool
	Instances  int
	TargetShed *big.Rat
	Peakedness *float64
}

// BuildSingle works out one bulkhead. With Spec.Permits given, that number is
// evaluated, and Wanted is still what the headroom would ask for.
func BuildSingle(in SingleInput) (*Single, error) {
	f := &schema.File{Processes: 1, Measure: schema.Measure{TargetShed: in.TargetShed}}
	b := &Bulkhead{Spec: &in.Spec, Now: nil, TargetShed: sizing.Float(in.TargetShed), Peakedness: in.Peakedness}
	b.Traffic = fromFile(f, in.Spec.Traffic)
	b.size(f)
	b.Permits = b.Wanted
	if given := in.Spec.Permits; given != nil {
		b.Permits, b.Failure, b.Next = given, "", ""
	}
	size := 0
	if in.Pool != nil {
		size = in.Pool.Size
	}
	if err := b.settle(size); err != nil {
		return nil, err
	}
	s := &Single{Bulkhead: b, Pool: in.Pool, Instances: in.Instances}
	if b.Permits == nil {
		return s, nil
	}
	return s, s.vary(size)
}

// Loads of the what-if rows: the growth of a good year, and the day on which
// the dependency answers half as fast.
const (
	moreRate = 1.2
	slower   = 2.0
)

func (s *Single) vary(size int) error {
	around := neighbors(*s.Permits)
	if s.ByLoss != nil {
		around = append(around, *s.ByLoss)
	}
	slices.Sort(around)
	for _, n := range slices.Compact(around) {
		row, err := s.neighbor(n, size)
		if err != nil {
			return err
		}
		s.Neighbors = append(s.Neighbors, row)
	}
	loads := []struct {
		name  string
		times *big.Rat
	}{{"as given", big.NewRat(1, 1)}, {"rate +20 %", big.NewRat(6, 5)}, {"latency x2", big.NewRat(2, 1)}, {"both", big.NewRat(12, 5)}}
	for _, l := range loads {
		shed, err := s.ShedWith(s.Permits, sizing.Float(l.times))
		if err != nil {
			return err
		}
		row := WhatIf{Load: l.name, Shed: shed}
		if s.Wanted != nil {
			n := s.wantedWith(l.times)
			row.Permits = &n
		}
		s.WhatIf = append(s.WhatIf, row)
	}
	return nil
}

func (s *Single) neighbor(n, size int) (Neighbor, error) {
	row := Neighbor{Permits: n, Blast: blast(&n, size)}
	var err error
	for _, load := range []struct {
		into  **float64
		times float64
	}{{&row.Shed, 1}, {&row.ShedMoreRate, moreRate}, {&row.ShedSlower, slower}} {
		if *load.into, err = s.ShedWith(&n, load.times); err != nil {
			return row, err
		}
	}
	effect, err := sizing.Stall{Permits: n, Rate: s.Rate, StallAttempts: s.StallAttempts, Timeout: s.Spec.Timeout, MeanInFlight: s.MeanInFlight}.Effect()
	row.Fill, row.FillFromEmpty = effect.Fill, effect.FillFromEmpty
	return row, err
}

// neighbors are numbers around n, near ones closer together.
func neighbors(n int) []int {
	all := []int{n - 1, n, n + 1, n + 2}
	for _, percent := range []int{50, 75, 90, 110, 125, 150, 200} {
		all = append(all, (n*percent+50)/100)
	}
	all = slices.DeleteFunc(all, func(x int) bool { return x < 1 || x > sizing.MaxPermits })
	slices.Sort(all)
	return slices.Compact(all)
}

// Fits says whether the permits are within the pool's budget; nil without a pool.
func (s *Single) Fits() (*bool, error) {
	if s.Pool == nil || s.Permits == nil {
		return nil, nil
	}
	budget, err := s.Pool.Sizing().Available()
	fits := *s.Permits <= budget
	return &fits, err
}
