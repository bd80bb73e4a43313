package sizing

import "math"

// ErlangBContinuous is ErlangB for a real number of permits, B = a^c e^-a /
// Gamma(c+1, a), the continuation that Hayward's approximation needs. It starts
// at the fractional part of c and climbs by the recurrence. Jagerman, Some
// Properties of the Erlang Loss Function, BSTJ 53 (1974).
func ErlangBContinuous(a, c float64) (float64, error) {
	if err := checkErlang(a, c); err != nil {
		return 0, err
	}
	return erlangB(a, c), nil
}

// erlangB is ErlangBContinuous of checked arguments.
func erlangB(a, c float64) float64 {
	switch {
	case c == 0:
		return 1
	case a == 0 || lnBAbove(a, c) < lnSmallest:
		return 0
	}
	s, scale := inverseB(a, c)
	return math.Exp(-scale) / s
}

// lnSmallest is where exp reaches 0.
const lnSmallest = -746

// lnBAbove is a cheap upper bound of ln B. For c >= a at least half of the
// Poisson mass lies at or below c, so that B <= 2 a^c e^-a / Gamma(c+1).
func lnBAbove(a, c float64) float64 {
	if c < a {
		return 0
	}
	g, _ := math.Lgamma(c + 1)
	return math.Ln2 + c*math.Log(a) - a - g
}

const (
	rescaleAt  = 1e150
	negligible = 1e-18
)

// inverseB returns 1/B(a,c) as s x e^scale, for a > 0: the sum 1 + c/a +
// c(c-1)/a^2 + ... down to the fractional part f of c, whose own 1/B closes it.
// It stops as soon as the terms have begun to fall geometrically and no longer
// count.
func inverseB(a, c float64) (s, scale float64) {
	t := 1.0
	x := c
	for ; x >= 1; x-- {
		s += t
		if x < a && t < negligible*s*(1-x/a) {
			return s, scale
		}
		t *= x / a
		if t > rescaleAt {
			if math.IsInf(t, 1) { // a is next to nothing: 1/B is past counting
				return 1, math.Inf(1)
			}
			f := math.Log(t)
			s, t, scale = s/t, 1, scale+f
		}
	}
	return s + t*inverseFraction(a, x), scale
}

// inverseFraction returns 1/B(a,f) for f in [0,1): e^a a^-f Gamma(1+f, a), by
// the power series of the lower incomplete gamma function where a is small and
// by the continued fraction of the upper one elsewhere.
func inverseFraction(a, f float64) float64 {
	if f <= 0 {
		return 1
	}
	if a < f+2 {
		return math.Exp(a)*math.Gamma(1+f)*math.Pow(a, -f) - a*lowerSeries(1+f, a)
	}
	return a * upperFraction(1+f, a)
}

// lowerSeries returns gamma(s,x) e^x x^-s = sum of x^n / (s(s+1)...(s+n)).
// Abramowitz and Stegun 6.5.29.
func lowerSeries(s, x float64) float64 {
	term := 1 / s
	sum := term
	for n := 1.0; n < 200 && term > negligible*sum; n++ {
		term *= x / (s + n)
		sum += term
	}
	return sum
}

// upperFraction returns Gamma(s,x) e^x x^-s for x > s+1, by Lentz's method on
// Legendre's continued fraction. Abramowitz and Stegun 6.5.31; Press et al.,
// Numerical Recipes, 6.2.
func upperFraction(s, x float64) float64 {
	b := x + 1 - s
	c := math.Inf(1)
	d := 1 / b
	h := d
	for i := 1.0; i < 1000; i++ {
		an := -i * (i - s)
		b += 2
		d = 1 / (an*d + b)
		c = b + an/c
		h *= d * c
		if math.Abs(d*c-1) < 1e-16 {
			break
		}
	}
	return h
}
