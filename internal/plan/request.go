package plan

import (
	"math"
	"math/big"
	"time"

	"github.com/bhsize/bhsize/promquery"
	"github.com/bhsize/bhsize/schema"
	"github.com/bhsize/bhsize/sizing"
)

// DefaultWindow is how far back is measured where the file does not say: two
// weeks hold every weekday twice, and a default Prometheus keeps 15 days.
const DefaultWindow = 14 * 24 * time.Hour

// DefaultPreset is asked for where the file names neither preset nor series.
const DefaultPreset = "istio"

// Request turns a file into what is to be measured from start (nil: as far back
// as the file says) up to end. Errors are of
// type *promquery.FieldError.
func Request(f *schema.File, start *time.Time, end time.Time) (promquery.Request, error) {
	p := f.Prometheus
	series, preset, err := chosenSeries(p)
	if err != nil {
		return promquery.Request{}, err
	}
	end = promquery.CeilSlot(end)
	if start == nil {
		from := end.Add(-window(p.Window))
		start = &from
	}
	r := promquery.Request{
		Series: series, UnitStated: p.Series.Unit != "", Preset: preset, Selector: p.Selector, Start: *start, End: end,
		Unhealthy: promquery.Unhealthy{Errors: sizing.Float(f.Measure.UnhealthyErrors), P99Factor: sizing.Float(f.Measure.P99Factor)},
	}
	for _, b := range f.Bulkheads {
		r.Groups = append(r.Groups, promquery.Group{Name: b.Name, Match: b.Match})
	}
	for _, e := range f.Measure.Exclude {
		r.Exclude = append(r.Exclude, promquery.Excluded{From: e.From, To: e.To, Reason: e.Reason})
	}
	return r, nil
}

// chosenSeries is the preset with the file's own names over it. Names by hand
// alone need no preset.
func chosenSeries(p schema.Prometheus) (promquery.Series, string, error) {
	byHand := promquery.Series{
		Counter: p.Series.Counter, Histogram: p.Series.Histogram, Unit: p.Series.Unit,
		Dependency: p.Series.Dependency, Instance: p.Series.Instance, Fixed: p.Series.Matchers,
		Rejected: p.Series.Rejected, Calls: p.Series.Calls, Level: promquery.Level(p.Series.Level), Ends: promquery.Ends(p.Series.Ends),
	}
	if p.Series.Errors != "" {
		byHand.Errors = []string{p.Series.Errors}
	}
	if p.Preset == "" && p.Series.Histogram != "" {
		return byHandDefaults().With(byHand), "", nil
	}
	name := p.Preset
	if name == "" {
		name = DefaultPreset
	}
	preset, err := promquery.LookupPreset(name)
	if err != nil {
		return promquery.Series{}, "", &promquery.FieldError{Path: []string{"prometheus", "preset"}, Err: err}
	}
	return preset.Series.With(byHand), preset.Name, nil
}

// byHandDefaults is what a series named by hand may leave out.
func byHandDefaults() promquery.Series {
	return promquery.Series{Unit: "s", Instance: []string{"instance", "pod"}, Level: promquery.LevelCall, Ends: promquery.EndsComplete}
}

func window(length *big.Rat) time.Duration {
	if length == nil {
		return DefaultWindow
	}
	return seconds(length)
}

// seconds takes an exact number of seconds to a duration; a longer one than
// that can hold is the longest.
func seconds(r *big.Rat) time.Duration {
	ns := sizing.Float(r) * float64(time.Second)
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}
