package sizing

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

const (
	maxNumberText = 100 // characters
	maxExponent   = 64  // of ten; a larger one would buy memory with a few bytes of text
)

// ParseNumber reads decimal text such as 12, 0.05 or 1.5e3 as an exact
// rational. It refuses an empty text, NaN, infinities, hexadecimal, digit
// separators, and exponents beyond 64.
func ParseNumber(s string) (*big.Rat, error) {
	if s == "" {
		return nil, errors.New("a number is missing: write one such as 2 or 0.05")
	}
	if len(s) > maxNumberText {
		return nil, fmt.Errorf("%q is too long for a number: write at most %d characters", s[:12]+"...", maxNumberText)
	}
	mantissa, exponent, found := strings.Cut(strings.ToLower(s), "e")
	if !isDecimal(mantissa) || found && !isInteger(exponent) {
		return nil, fmt.Errorf("%q is not a decimal number: write one such as 2 or 0.05", s)
	}
	if e, err := strconv.Atoi(exponent); found && (err != nil || e > maxExponent || e < -maxExponent) {
		return nil, fmt.Errorf("%q has an exponent beyond %d: check the number", s, maxExponent)
	}
	x, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, fmt.Errorf("%q is not a decimal number: write one such as 2 or 0.05", s)
	}
	return x, nil
}

// isDecimal says whether s is an optional sign, digits, and at most one point.
func isDecimal(s string) bool {
	whole, fraction, _ := strings.Cut(trimSign(s), ".")
	return whole+fraction != "" && isDigits(whole) && isDigits(fraction)
}

func isInteger(s string) bool {
	s = trimSign(s)
	return s != "" && isDigits(s)
}

func trimSign(s string) string {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[1:]
	}
	return s
}

func isDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// ParseRatio reads a share as "20%" or "0.2". It refuses a negative one; what
// is too large depends on what the ratio is for, and is the caller's to say.
func ParseRatio(s string) (*big.Rat, error) {
	number, percent := strings.CutSuffix(s, "%")
	x, err := ParseNumber(number)
	if err != nil {
		return nil, fmt.Errorf("%q is not a ratio: write one such as 20%% or 0.2", clip(s))
	}
	if x.Sign() < 0 {
		return nil, fmt.Errorf("ratio %q is negative: write one such as 20%% or 0.2", s)
	}
	if percent {
		x.Quo(x, ratInt(100))
	}
	return x, nil
}

// clip keeps an error message in proportion to its cause.
func clip(s string) string {
	if len(s) > maxNumberText {
		return s[:12] + "..."
	}
	return s
}

// FormatNumber writes x as the shortest decimal that is exact where at most 12
// digits after the point suffice, and with 6 significant digits otherwise. An
// absent number is "unknown".
func FormatNumber(x *big.Rat) string {
	if x == nil {
		return "unknown"
	}
	if s, exact := formatExact(x); exact {
		return s
	}
	f := new(big.Float).SetPrec(128).SetRat(x)
	if f.MantExp(nil) > 19 { // at least 2^19: 6 digits end at the point or before it
		return x.FloatString(0)
	}
	return f.Text('g', 6)
}

// maxPlaces is how many digits after the point still count as exact.
const maxPlaces = 12

func formatExact(x *big.Rat) (string, bool) {
	if x.Denom().BitLen() > 4*maxPlaces { // 10^12 has 40 bits
		return "", false
	}
	places, exact := x.FloatPrec()
	if !exact || places > maxPlaces {
		return "", false
	}
	return x.FloatString(places), true
}

// Float returns the float64 nearest to x. It is infinite for an x beyond the
// range of float64, and NaN for an absent one: both are errors wherever this
// package takes a float64.
func Float(x *big.Rat) float64 {
	if x == nil {
		return math.NaN()
	}
	f, _ := x.Float64()
	return f
}
