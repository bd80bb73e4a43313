package sizing

import "fmt"

// Criticality says who gives way first. The zero value is Standard.
type Criticality int

// The criticalities. Their numbers mean nothing: Optional gives way first, then
// Standard, and Critical never.
const (
	Standard Criticality = iota
	Optional
	Critical
)

// givingWay lists the criticalities that may be cut, the first to give way first.
var givingWay = []Criticality{Optional, Standard}

// String returns "optional", "standard" or "critical".
func (c Criticality) String() string {
	switch c {
	case Standard:
		return "standard"
	case Optional:
		return "optional"
	case Critical:
		return "critical"
	}
	return fmt.Sprintf("criticality(%d)", int(c))
}

// ParseCriticality reads what String writes; "" is an error, as a caller knows
// its default.
func ParseCriticality(s string) (Criticality, error) {
	for _, c := range []Criticality{Standard, Optional, Critical} {
		if s == c.String() {
			return c, nil
		}
	}
	return Standard, fmt.Errorf("criticality %q is unknown: use critical, standard or optional", clip(s))
}
