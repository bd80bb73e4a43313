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
	b := &Bulkhead{Spec: &in.Spec, TargetShed: sizing.Float(in.TargetShed), Peakedness: in.Peakedness, processes: 1}
	b.Traffic = fromFile(&schema.File{}, in.Spec.Traffic)
	b.size()
	b.Permits = b.Wanted
	if given := in.Spec.Permits; given != nil {
		b.Permits, b.Failure, b.Next = given, "", ""
	}
	size := 0
	if in.Pool != nil {
		size = in.Pool.Size
	}
	b.settle(size)
	s := &Single{Bulkhead: b, Pool: in.Pool, Instances: in.Instances}
	if b.Permits == nil {
		return s, nil
	}
	return s, s.vary(size)
}

// loads are those of the what-if rows: as given, the growth of a good year, the
// day on which the dependency answers half as fast, and both.
var loads = []struct {
	name         string
	rate, slower *big.Rat
}{
	{"as given", one, one},
	{"rate +20 %", big.NewRat(6, 5), one},
	{"latency x2", one, big.NewRat(2, 1)},
	{"both", big.NewRat(6, 5), big.NewRat(2, 1)},
}

func (s *Single) vary(size int) error {
	var needs []need
	for _, l := range loads {
		n, err := s.needAt(new(big.Rat).Mul(s.Traffic.PeakRPS, l.rate), l.slower)
		if err != nil {
			n.wanted = nil // beyond what can be computed: unknown, which is no reason to fail
		}
		shed, err := s.shedWith(s.Permits, n.meanInFlight)
		if err != nil {
			return err
		}
		needs = append(needs, n)
		s.WhatIf = append(s.WhatIf, WhatIf{Load: l.name, Permits: n.wanted, Shed: shed})
	}
	for _, permits := range s.around() {
		row, err := s.neighbor(permits, size, needs)
		if err != nil {
			return err
		}
		s.Neighbors = append(s.Neighbors, row)
	}
	return nil
}

// around are the neighbours to show, and the number that the loss asks for.
func (s *Single) around() []int {
	all := neighbors(*s.Permits)
	if s.ByLoss != nil {
		all = append(all, *s.ByLoss)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (s *Single) neighbor(permits, size int, needs []need) (Neighbor, error) {
	row := Neighbor{Permits: permits, Blast: blast(&permits, size)}
	var err error
	for i, into := range []**float64{&row.Shed, &row.ShedMoreRate, &row.ShedSlower} {
		if *into, err = s.shedWith(&permits, needs[i].meanInFlight); err != nil {
			return row, err
		}
	}
	effect, err := s.stallWith(permits)
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

// Fleet is the permits of all instances; nil where their number was not named.
func (s *Single) Fleet() *int {
	if s.Instances == 0 || s.Permits == nil {
		return nil
	}
	all := *s.Permits * s.Instances
	return &all
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
