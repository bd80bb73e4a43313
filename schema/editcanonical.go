package schema

import (
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/bhsize/bhsize/sizing"
)

// canonical brings changes to what the format can state, so that reading them
// back gives the same. What it cannot state at all is an error that names the
// field.
func (f *File) canonical(changes []Change) ([]Change, error) {
	out := make([]Change, len(changes))
	seen := map[string]bool{}
	for i, c := range changes {
		if seen[c.Bulkhead] {
			return nil, fmt.Errorf("%s: bulkhead %q is to be changed twice; give one change for it", f.Name, clip(c.Bulkhead))
		}
		seen[c.Bulkhead] = true
		if c.Traffic != nil {
			t := *c.Traffic
			if field, err := t.canonical(); err != nil {
				return nil, fmt.Errorf("%s: %s cannot be written: %w", f.Pos("bulkheads", c.Bulkhead, "traffic"), joinPath([]string{"bulkheads", c.Bulkhead, "traffic", field}), err)
			}
			c.Traffic = &t
		}
		out[i] = c
	}
	return out, nil
}

// canonical changes t to what the format can state. The error is about the
// field that it cannot.
func (t *Traffic) canonical() (field string, err error) {
	for _, n := range []namedNumber{{"peak_rps", t.PeakRPS}, {"attempts_per_call", t.AttemptsPerCall}} {
		if n.value == nil {
			continue
		}
		if err := exact(n.value, sizing.FormatNumber, sizing.ParseNumber); err != nil {
			return n.field, err
		}
	}
	for _, d := range t.durations() {
		if err := exact(d.value, sizing.FormatDuration, sizing.ParseDuration); err != nil {
			return d.field, err
		}
	}
	if t.Level != "" && t.Level != "call" && t.Level != "attempt" {
		return "level", fmt.Errorf("%q is not one of call, attempt", clip(t.Level))
	}
	day := t.Measured.UTC().Truncate(24 * time.Hour)
	if t.Measured.IsZero() {
		day = time.Time{}
	} else if day.IsZero() || day.Year() < 0 || day.Year() > 9999 {
		return "measured", fmt.Errorf("%s is no day that a file can state", clip(day.Format(time.DateOnly)))
	}
	t.Measured = day
	return "", nil
}

// namedNumber is a value and the field that it belongs into.
type namedNumber struct {
	field string
	value *big.Rat
}

// durations returns those that t has. A bound that is missing beside the other
// is among them.
func (t *Traffic) durations() []namedNumber {
	var all []namedNumber
	add := func(field string, values ...*big.Rat) {
		for _, v := range values {
			all = append(all, namedNumber{field, v})
		}
	}
	if t.P99 != nil {
		add("p99", t.P99)
	}
	if t.P99Bounds != nil {
		add("p99_bounds", t.P99Bounds[0], t.P99Bounds[1])
	}
	if t.Mean != nil {
		add("mean", t.Mean)
	}
	if t.Window != nil {
		add("window", t.Window)
	}
	return all
}

// exact refuses a number whose text does not read back as the same.
func exact(x *big.Rat, format func(*big.Rat) string, parse func(string) (*big.Rat, error)) error {
	if x == nil {
		return errors.New("it is missing")
	}
	text := format(x)
	back, err := parse(text)
	if err != nil {
		return err
	}
	if back.Cmp(x) != 0 {
		return fmt.Errorf("%s is not exact; round it to at most 12 digits after the point", clip(text))
	}
	return nil
}
