package sizing

import (
	"fmt"
	"math"
	"slices"
)

// Load is one bulkhead as a draw on a shared pool.
type Load struct {
	A       float64 // offered load in erlangs
	Permits int
}

const (
	// vanishing is the share of probability that is dropped from both ends of
	// a distribution: far below any probability worth printing.
	vanishing = 1e-40
	// maxWork bounds the multiplications of one convolution, to about a second.
	maxWork = 1e9
)

// ProbabilityFull returns the probability that the permits in use over all
// loads together reach limit, and that they exceed it. Each load is a truncated
// Poisson distribution (what c permits without a queue hold, at Poisson
// arrivals), all are independent, and their sum is convolved exactly: the normal
// tail is off by orders of magnitude. Probabilities below 1e-35 are not
// reliable. Independence fails in an incident: see ProbabilityFullStalled.
func ProbabilityFull(loads []Load, limit int) (atLeast, above float64, err error) {
	limit = min(max(limit, -1), math.MaxInt-1)
	total := spread{p: []float64{1}}
	for _, l := range loads {
		if err := firstError(checkLoad("offered load", l.A), checkPermits(l.Permits)); err != nil {
			return 0, 0, err
		}
	}
	work := 0.0
	for _, l := range loads {
		next := truncatedPoisson(l)
		if work += float64(len(next.p)) * float64(len(total.p)); work > maxWork {
			return 0, 0, fmt.Errorf("%d loads are too large to convolve: give fewer permits", len(loads))
		}
		total = total.plus(next)
	}
	return total.from(limit), total.from(limit + 1), nil
}

// ProbabilityFullStalled is ProbabilityFull while the dependency of one load is
// stalled: that one holds all its permits.
func ProbabilityFullStalled(loads []Load, stalled, limit int) (atLeast, above float64, err error) {
	if stalled < 0 || stalled >= len(loads) {
		return 0, 0, fmt.Errorf("load %d of %d asked for", stalled, len(loads))
	}
	held := loads[stalled].Permits
	if err := checkPermits(held); err != nil {
		return 0, 0, err
	}
	others := slices.Delete(slices.Clone(loads), stalled, stalled+1)
	return ProbabilityFull(others, max(limit, -1)-held)
}

// spread is a distribution over first, first+1, ..., up to a factor.
type spread struct {
	first int
	p     []float64
}

// truncatedPoisson is the distribution of permits in use, p(k) ~ a^k/k! on 0 to
// c, worked from its mode to both sides so that nothing overflows.
func truncatedPoisson(l Load) spread {
	mode := int(min(l.A, float64(l.Permits)))
	var below []float64
	w := 1.0
	for k := mode; k > 0; k-- {
		if w *= float64(k) / l.A; w < vanishing {
			break
		}
		below = append(below, w)
	}
	slices.Reverse(below)
	s := spread{first: mode - len(below), p: append(below, 1)}
	w = 1
	for k := mode + 1; k <= l.Permits; k++ {
		if w *= l.A / float64(k); w < vanishing {
			break
		}
		s.p = append(s.p, w)
	}
	return s.normal()
}

// plus is the distribution of the sum of two independent numbers.
func (s spread) plus(t spread) spread {
	sum := make([]float64, len(s.p)+len(t.p)-1)
	for i, x := range t.p {
		row := sum[i : i+len(s.p)]
		for j, y := range s.p {
			row[j] += x * y
		}
	}
	return spread{first: s.first + t.first, p: sum}.normal()
}

// normal scales a distribution to a sum of 1 and cuts vanishing ends off.
func (s spread) normal() spread {
	total := 0.0
	for _, x := range s.p {
		total += x
	}
	for i := range s.p {
		s.p[i] /= total
	}
	from, to := 0, len(s.p)
	for from < to-1 && s.p[from] < vanishing {
		from++
	}
	for to > from+1 && s.p[to-1] < vanishing {
		to--
	}
	return spread{first: s.first + from, p: s.p[from:to]}
}

// from sums the probabilities of n and more, the smallest first.
func (s spread) from(n int) float64 {
	sum := 0.0
	for i := len(s.p) - 1; i >= max(0, n-s.first); i-- {
		sum += s.p[i]
	}
	return min(sum, 1)
}
