package plan

import (
	"math"
	"math/big"
	"time"

	"github.com/bhsize/bhsize/schema"
)

// Changes are the edits that put the plan into its file: permits, and the
// traffic that they rest on where it was measured. Bulkheads without a number
// are left as they are.
func (s *Service) Changes() []schema.Change {
	var all []schema.Change
	for _, b := range s.Bulkheads {
		if b.Permits == nil {
			continue
		}
		change := schema.Change{Bulkhead: b.Spec.Name, Permits: b.Permits}
		if !b.Traffic.FromFile {
			change.Traffic = b.stated()
		}
		all = append(all, change)
	}
	return all
}

// stated is the traffic as the file states it, so that the same permits follow
// from the file alone. A p99 that says nothing is left out: then the mean sizes.
func (b *Bulkhead) stated() *schema.Traffic {
	t := b.Traffic
	out := &schema.Traffic{PeakRPS: t.PeakRPS, Mean: t.Mean, Level: string(t.Level), Calls: t.Calls, AttemptsPerCall: t.AttemptsPerCall, Rejected: b.rejected(), Measured: t.Measured.UTC().Truncate(24 * time.Hour), Window: t.Window}
	if b.SizedBy == SizedByMean || t.P99 == nil {
		return out
	}
	out.P99 = t.P99
	if t.P99Low != nil && t.P99High != nil {
		out.P99Bounds = &[2]*big.Rat{t.P99Low, t.P99High}
	}
	return out
}

// rejected is how many calls the limit refused; nil where none were, or that is
// not known.
func (b *Bulkhead) rejected() *int64 {
	if rejected, censored := b.Censored(); censored {
		n := int64(math.Ceil(rejected))
		return &n
	}
	return nil
}
