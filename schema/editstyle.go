package schema

import (
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/bhsize/bhsize/sizing"
)

// style is how a format writes keys and text.
type style struct {
	quoteKeys, quoteText bool
}

func styleOf(f Format) style {
	return style{quoteKeys: f == FormatJSON, quoteText: f != FormatYAML}
}

// trafficFields in the order in which they are written.
var trafficFields = []string{"peak_rps", "p99", "p99_bounds", "mean", "level", "calls", "attempts_per_call", "rejected", "measured", "window"}

func (s style) text(t string) string {
	if s.quoteText {
		return strconv.Quote(t)
	}
	return t
}

func (s style) duration(d *big.Rat) string { return s.text(sizing.FormatDuration(d)) }

// traffic returns the fields that t has.
func (s style) traffic(t *Traffic) []entry {
	var out []entry
	add := func(present bool, key string, value func() string) {
		if present {
			out = append(out, entry{key, value()})
		}
	}
	add(t.PeakRPS != nil, "peak_rps", func() string { return sizing.FormatNumber(t.PeakRPS) })
	add(t.P99 != nil, "p99", func() string { return s.duration(t.P99) })
	add(t.P99Bounds != nil, "p99_bounds", func() string {
		return "[" + s.duration(t.P99Bounds[0]) + ", " + s.duration(t.P99Bounds[1]) + "]"
	})
	add(t.Mean != nil, "mean", func() string { return s.duration(t.Mean) })
	add(t.Level != "", "level", func() string { return s.text(t.Level) })
	add(t.Calls != nil, "calls", func() string { return strconv.FormatInt(*t.Calls, 10) })
	add(t.AttemptsPerCall != nil, "attempts_per_call", func() string { return sizing.FormatNumber(t.AttemptsPerCall) })
	add(t.Rejected != nil, "rejected", func() string { return strconv.FormatInt(*t.Rejected, 10) })
	add(!t.Measured.IsZero(), "measured", func() string { return s.text(t.Measured.Format(time.DateOnly)) })
	add(t.Window != nil, "window", func() string { return s.duration(t.Window) })
	return out
}

func (s style) entry(e entry) string {
	return s.key(e.key) + ": " + e.value
}

func (s style) join(entries []entry, sep string) string {
	texts := make([]string, len(entries))
	for i, e := range entries {
		texts[i] = s.entry(e)
	}
	return strings.Join(texts, sep)
}

func (s style) mapping(entries []entry) string {
	return "{" + s.join(entries, ", ") + "}"
}

// unquote returns a written scalar without quotes, for between existing ones.
func unquote(s string) string { return strings.Trim(s, `"`) }
