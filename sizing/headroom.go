package sizing

import (
	"fmt"
	"math/big"
	"strings"
)

// Headroom says how far above the demand the permits lie: a factor of at least
// 1, or Auto for the smallest cap that meets the target shed.
type Headroom struct {
	Auto   bool
	Factor *big.Rat // nil when Auto
}

// ParseHeadroom reads a factor ("2"), a margin ("33%" is the factor 1.33) or
// "auto". What String writes ("x2") is read too. A factor below 1 is an error.
func ParseHeadroom(s string) (Headroom, error) {
	if s == "auto" {
		return Headroom{Auto: true}, nil
	}
	number, margin := strings.CutSuffix(s, "%")
	if !margin {
		number = strings.TrimPrefix(number, "x")
	}
	x, err := ParseNumber(number)
	if err != nil {
		return Headroom{}, fmt.Errorf("headroom %q is none of a factor (2), a margin (33%%) or auto", clip(s))
	}
	if margin {
		x.Quo(x, ratInt(100)).Add(x, ratInt(1))
	}
	if x.Cmp(ratInt(1)) < 0 {
		return Headroom{}, fmt.Errorf("headroom %q is below the demand itself: write a factor of at least 1, such as 2, or a margin such as 33%%", s)
	}
	return Headroom{Factor: x}, nil
}

// String returns "auto", "x2" or "x1.33", and "none" for the zero value.
func (h Headroom) String() string {
	switch {
	case h.Auto:
		return "auto"
	case h.Factor == nil:
		return "none"
	}
	return "x" + FormatNumber(h.Factor)
}
