package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/bhsize/bhsize/schema"
	"github.com/bhsize/bhsize/sizing"
)

// buildBackends adds up what the pools of all services draw on together, at
// the most instances plus those that a roll-out starts beside them.
func buildBackends(services []*Service) ([]Backend, error) {
	byName := map[string]*Backend{}
	for _, s := range services {
		for _, pool := range s.Pools {
			if spec := pool.Spec.Backend; spec != nil {
				if err := addDraw(byName, s, pool.Spec); err != nil {
					return nil, err
				}
			}
		}
	}
	var all []Backend
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		b, err := finishBackend(byName[name])
		if err != nil {
			return nil, fmt.Errorf("backend %q: %w", name, err)
		}
		all = append(all, b)
	}
	return all, nil
}

func addDraw(byName map[string]*Backend, s *Service, pool *schema.Pool) error {
	spec := pool.Backend
	b := byName[spec.Name]
	if b == nil {
		b = &Backend{Name: spec.Name, Sizing: sizing.Backend{Capacity: spec.Capacity, Reserved: spec.Reserved, Others: spec.Others}}
		byName[spec.Name] = b
	}
	if b.Sizing.Capacity != spec.Capacity || b.Sizing.Reserved != spec.Reserved || b.Sizing.Others != spec.Others {
		return fmt.Errorf("%s: backend %q is described differently in another place: make capacity, reserved and others the same",
			s.File.Pos("pools", pool.Name, "backend"), spec.Name)
	}
	most := mostInstances(s)
	if most == 0 {
		b.Unknown = append(b.Unknown, s.Name)
		return nil
	}
	b.Sizing.Draws = append(b.Sizing.Draws, sizing.Draw{Name: s.Name + "/" + pool.Name, Size: pool.Size, Processes: s.File.Processes, Instances: most})
	return nil
}

// mostInstances is the stated or the measured maximum, plus the surge.
func mostInstances(s *Service) int {
	most := 0
	if m := s.File.Instances.Max; m != nil {
		most = *m
	}
	if most == 0 {
		for _, b := range s.Bulkheads {
			if b.Traffic != nil {
				most = max(most, b.Traffic.Instances.Max)
			}
		}
	}
	if surge := s.File.Instances.Surge; surge != nil && most > 0 {
		most += *surge
	}
	return most
}

func finishBackend(b *Backend) (Backend, error) {
	var err error
	if b.Used, err = b.Sizing.Used(); err != nil {
		return *b, err
	}
	if b.Available, err = b.Sizing.Available(); err != nil {
		return *b, err
	}
	fits := b.Used <= b.Available
	switch {
	case !fits:
		b.Fits, b.MostInstances = &fits, b.most()
	case len(b.Unknown) == 0:
		b.Fits = &fits
	}
	return *b, nil
}

// most is the number of instances of the first service that would fit.
func (b *Backend) most() *int {
	n, err := b.Sizing.MaxInstances(0)
	if err != nil || len(b.Sizing.Draws) == 0 {
		return nil
	}
	return &n
}
