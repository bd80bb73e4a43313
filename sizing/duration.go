package sizing

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unit is a unit of time and its length in seconds.
type unit struct {
	name    string
	seconds *big.Rat
}

// The units, longest first: those that FormatDuration uses for whole numbers
// only, and those that it uses for fractions.
var (
	wholeUnits = []unit{
		{"d", big.NewRat(86400, 1)},
		{"h", big.NewRat(3600, 1)},
		{"m", big.NewRat(60, 1)},
	}
	partUnits = []unit{
		{"s", big.NewRat(1, 1)},
		{"ms", big.NewRat(1, 1e3)},
		{"us", big.NewRat(1, 1e6)},
		{"ns", big.NewRat(1, 1e9)},
	}
	allUnits = slices.Concat([]unit{{"w", big.NewRat(604800, 1)}}, wholeUnits, partUnits)
)

const unitNames = "ns, us, ms, s, m, h, d or w"

// ParseDuration reads one number with one unit, such as 250ms, 1.5s or 14d, as
// exact seconds. A bare number is an error that names the units it might have
// meant; a negative one is an error too.
func ParseDuration(s string) (*big.Rat, error) {
	number, name := splitUnit(s)
	x, err := ParseNumber(number)
	if err != nil {
		return nil, fmt.Errorf("%q is not a duration: write one number and one unit of %s, such as 250ms", clip(s), unitNames)
	}
	if name == "" {
		return nil, fmt.Errorf("%s has no unit: %sms or %ss?", s, s, s)
	}
	seconds := unitSeconds(name)
	if seconds == nil {
		return nil, fmt.Errorf("%q has the unknown unit %q: use %s", clip(s), clip(name), unitNames)
	}
	if x.Sign() < 0 {
		return nil, fmt.Errorf("duration %q is negative: write one such as 250ms", s)
	}
	return x.Mul(x, seconds), nil
}

// splitUnit cuts the letters off the end of s.
func splitUnit(s string) (number, name string) {
	number = strings.TrimRightFunc(s, unicode.IsLetter)
	return number, s[len(number):]
}

// unitSeconds returns the length of a unit, nil for an unknown one. Both
// characters that look like a micro sign are one.
func unitSeconds(name string) *big.Rat {
	if r, size := utf8.DecodeRuneInString(name); r == '\u00b5' || r == '\u03bc' {
		name = "u" + name[size:]
	}
	for _, u := range allUnits {
		if u.name == name {
			return u.seconds
		}
	}
	return nil
}

// FormatDuration writes seconds in the largest unit in which they are at least
// 1 and exact, so that it is short: 50ms, 1.5s, 250us. Seconds serve below two
// minutes; above, minutes, hours and days do where the number is whole.
// ParseDuration reads the result back, to the same value unless that needs
// more than 12 digits after the point.
func FormatDuration(seconds *big.Rat) string {
	switch {
	case seconds == nil:
		return FormatNumber(nil)
	case seconds.Sign() == 0:
		return "0s"
	}
	if s := formatWhole(seconds); s != "" {
		return s
	}
	return formatParts(seconds)
}

// formatParts writes seconds in the largest of s, ms, us and ns in which they
// are at least 1 and exact, or at least 1 where none is exact.
func formatParts(seconds *big.Rat) string {
	inexact := ""
	for _, u := range partUnits {
		x := new(big.Rat).Quo(seconds, u.seconds)
		if u.name != "ns" && new(big.Rat).Abs(x).Cmp(ratInt(1)) < 0 {
			continue
		}
		if s, exact := formatExact(x); exact {
			return s + u.name
		}
		if inexact == "" {
			inexact = FormatNumber(x) + u.name
		}
	}
	return inexact
}

// formatWhole writes two minutes and more as whole days, hours or minutes, ""
// where that cannot be done.
func formatWhole(seconds *big.Rat) string {
	if seconds.Cmp(ratInt(120)) < 0 {
		return ""
	}
	for _, u := range wholeUnits {
		if x := new(big.Rat).Quo(seconds, u.seconds); x.IsInt() {
			return FormatNumber(x) + u.name
		}
	}
	return ""
}
