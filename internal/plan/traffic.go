package plan

import (
	"math"
	"math/big"
	"strconv"

	"github.com/bhsize/bhsize/promquery"
	"github.com/bhsize/bhsize/schema"
	"github.com/bhsize/bhsize/sizing"
)

// digits is the precision of a measured value: it is rounded up to so many
// significant ones before it is printed, written or sized from.
const digits = 3

// fromFile takes the traffic that the file states.
func fromFile(f *schema.File, t *schema.Traffic) *Traffic {
	out := &Traffic{
		PeakRPS: t.PeakRPS, P99: t.P99, Mean: t.Mean, Level: promquery.Level(t.Level), Calls: t.Calls, AttemptsPerCall: t.AttemptsPerCall,
		Measured: t.Measured, Window: t.Window, FromFile: true, Instances: statedInstances(f),
	}
	if out.Level == "" {
		out.Level = promquery.LevelCall
	}
	if t.P99Bounds != nil {
		out.P99Low, out.P99High = t.P99Bounds[0], t.P99Bounds[1]
	}
	return out
}

func statedInstances(f *schema.File) InstanceRange {
	r := InstanceRange{}
	if f.Instances.Min != nil {
		r.Min, r.FromFile = *f.Instances.Min, true
	}
	if f.Instances.Max != nil {
		r.Max, r.FromFile = *f.Instances.Max, true
	}
	return r
}

// fromMeasurement rounds what was measured and finds the binding peak.
func fromMeasurement(f *schema.File, m *promquery.Measurement, d *promquery.Dependency) (*Traffic, error) {
	t := &Traffic{Level: m.Series.Level, Ends: m.Series.Ends, Measured: m.End, Instances: instances(f, d),
		Window: new(big.Rat).SetFrac64(int64(m.End.Sub(m.Start)/1e9), 1), rawSlots: d.SlotRates, rawFleetMax: d.PeakFleet.Value}
	calls := int64(math.Round(d.Calls))
	t.Calls, t.AttemptsPerCall = &calls, attemptsPerCall(m.Series.Level, d)
	var err error
	round := func(x float64) *big.Rat {
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
		var r *big.Rat
		r, err = sizing.RoundUp(x, digits)
		return r
	}
	t.Busiest, t.FleetPeak, t.FleetShare = round(d.PeakInstance.Value), round(d.PeakFleet.Value), round(fleetShare(t.Instances.Min, d))
	t.P99Low, t.P99High, t.Mean = round(d.P99.Low), round(d.P99.High), round(d.Mean)
	if !d.P99.Clipped() {
		t.P99 = round(d.P99.Value)
	}
	if err != nil {
		return nil, err
	}
	t.PeakRPS, t.PeakAt = t.Busiest, d.PeakInstance.At
	if t.FleetShare != nil && t.Busiest != nil && t.FleetShare.Cmp(t.Busiest) > 0 {
		t.PeakRPS, t.PeakAt = t.FleetShare, d.PeakFleet.At
	}
	return t, nil
}

// attemptsPerCall is what was observed, to the nearest of 4 digits; nil where
// calls are counted, or it is unknown.
func attemptsPerCall(level promquery.Level, d *promquery.Dependency) *big.Rat {
	if level != promquery.LevelAttempt || math.IsNaN(d.AttemptsPerCall) || d.AttemptsPerCall < 1 {
		return nil
	}
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(d.AttemptsPerCall, 'g', 4, 64))
	if !ok {
		return nil
	}
	return r
}

// withoutQuantile is what may be shown of a measurement that is too small or
// too unhealthy for a number: what was seen, but no p99. Nil: nothing was seen.
func (t *Traffic) withoutQuantile() *Traffic {
	if t.PeakRPS == nil {
		return nil
	}
	shown := *t
	shown.P99, shown.P99Low, shown.P99High = nil, nil, nil
	return &shown
}

// instances are the file's where it states them, else those counted: the
// fewest that carried nearly the peak, and the most seen.
func instances(f *schema.File, d *promquery.Dependency) InstanceRange {
	r := statedInstances(f)
	if r.Min == 0 {
		r.Min = d.InstancesAtPeak
	}
	if r.Max == 0 {
		r.Max = max(d.InstancesMax, r.Min)
	}
	return r
}

// fleetShare is the rate of the busiest of min instances that carry the fleet peak.
func fleetShare(min int, d *promquery.Dependency) float64 {
	if min < 1 || math.IsNaN(d.Skew) {
		return math.NaN()
	}
	return d.PeakFleet.Value / float64(min) * d.Skew
}

// slotRates are the rates of every healthy slot as the binding instance saw
// them, per process: each slot's share of the fleet peak.
func (t *Traffic) slotRates(perProcess float64) []float64 {
	if len(t.rawSlots) == 0 || !(t.rawFleetMax > 0) {
		return nil
	}
	rates := make([]float64, len(t.rawSlots))
	for i, r := range t.rawSlots {
		rates[i] = r / t.rawFleetMax * perProcess
	}
	return rates
}
