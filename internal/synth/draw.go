package synth

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
)

// source draws by inversion: one random word per variate, whatever comes out.
// With rejection a last bit that differs between processors could shift the
// whole sequence. For the same reason products are rounded by a conversion
// before they are added, which forbids fused multiply-add.
type source struct{ pcg *rand.PCG }

// newSource gives every pair of instance and dependency its own sequence, so
// that adding one changes no other.
func newSource(seed uint64, instance, dependency string) source {
	h := fnv.New64a()
	h.Write([]byte(instance + "\x00" + dependency)) // a hash cannot fail
	return source{rand.NewPCG(seed, h.Sum64())}
}

// uniform returns a number in (0, 1), never an end.
func (s source) uniform() float64 {
	return (float64(s.pcg.Uint64()>>11) + 0.5) / (1 << 53)
}

// exponential has mean 1.
func (s source) exponential() float64 { return -math.Log(s.uniform()) }

// normal is standard normal.
func (s source) normal() float64 { return quantile(s.uniform()) }

// The coefficients of Acklam's rational approximation of the normal quantile
// function; relative error below 1.15e-9.
var (
	centreNum = []float64{-3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02, 1.383577518672690e+02, -3.066479806614716e+01, 2.506628277459239e+00}
	centreDen = []float64{-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02, 6.680131188771972e+01, -1.328068155288572e+01, 1}
	tailNum   = []float64{-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00, -2.549732539343734e+00, 4.374664141464968e+00, 2.938163982698783e+00}
	tailDen   = []float64{7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00, 1}
)

// quantile is the inverse of the standard normal distribution function.
func quantile(p float64) float64 {
	const tail = 0.02425
	switch {
	case p < tail:
		return tailQuantile(p)
	case p > 1-tail:
		return -tailQuantile(1 - p)
	}
	q := p - 0.5
	r := q * q
	return q * horner(r, centreNum) / horner(r, centreDen)
}

func tailQuantile(p float64) float64 {
	q := math.Sqrt(-2 * math.Log(p))
	return horner(q, tailNum) / horner(q, tailDen)
}

func horner(x float64, coefficients []float64) float64 {
	sum := 0.0
	for _, c := range coefficients {
		sum = float64(sum*x) + c
	}
	return sum
}
