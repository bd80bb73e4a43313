package synth

import (
	"math"
	"time"
)

// Traffic is a rate of calls over the day.
type Traffic struct {
	Rate   float64 // calls per second and instance of weight 1, where the daily curve is 1
	Night  float64 // what the curve does not fall below, as a share of Rate
	Humps  []Hump  // on top of it; none for a flat rate (with Night 1)
	Bursts []Burst
}

// Hump is a bell in the daily curve.
type Hump struct {
	Hour   float64 // of its top, UTC
	Height float64 // as a share of Rate
	Width  float64 // standard deviation in hours
}

// Burst multiplies the rate for a while.
type Burst struct {
	Window
	Factor float64
}

// At returns the rate at t for an instance of weight 1, without retries.
func (tr *Traffic) At(t time.Time) float64 {
	share := tr.Night
	hour := t.Sub(t.Truncate(24 * time.Hour)).Hours()
	for _, h := range tr.Humps {
		d := math.Mod(hour-h.Hour+36, 24) - 12 // the shorter way round midnight
		z := d / h.Width
		share += float64(h.Height * math.Exp(float64(-z*z)/2))
	}
	rate := tr.Rate * share
	for _, b := range tr.Bursts {
		if b.holds(t) {
			rate *= b.Factor
		}
	}
	return rate
}

// at is the share of the calls arriving at ms, since the start, that fail.
func (e *Errors) at(ms float64) float64 {
	if e.Every == 0 {
		return e.Ratio
	}
	if math.Mod(ms, millis(e.Every)) >= millis(e.Spell) {
		return 0
	}
	return e.Ratio * float64(e.Every) / float64(e.Spell)
}
