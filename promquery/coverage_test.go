package promquery

import (
	"testing"
	"time"
)

// scrapedAt is a history in which slot i has samples(i).
func scrapedAt(slots int, samples func(i int) float64) *series {
	s := seriesOf(make([]slotData, slots)...)
	for i := range s.slots {
		s.slots[i].samples = samples(i)
	}
	return s
}

func TestExpectedSamples(t *testing.T) {
	const aDay = int(day / slot)
	for _, c := range []struct {
		why     string
		slots   int
		samples func(i int) float64
		at      int
		want    float64
	}{
		{"the fullest slot of the day", aDay, func(i int) float64 { return float64(10 + i%7) }, 50, 16},
		{"the day before differs", 2 * aDay, func(i int) float64 { return []float64{15, 60}[i/aDay] }, 0, 15},
		{"the day after differs", 2 * aDay, func(i int) float64 { return []float64{15, 60}[i/aDay] }, aDay, 60},
		{"a change within a day is held to the better part", aDay, func(i int) float64 { return []float64{15, 60}[i/60] }, 0, 60},
		{"three slots of a day are held to the next one", 2 * aDay, func(i int) float64 { return []float64{0, 5, 60}[min(2, (i+3)/aDay)] }, aDay - 1, 60},
		{"and to the one before", aDay + 3, func(i int) float64 { return []float64{60, 5}[i/aDay] }, aDay + 1, 60},
		{"but not below their own", aDay + 3, func(i int) float64 { return []float64{15, 60}[i/aDay] }, aDay + 1, 60},
		{"less than an hour in all is held to the usual interval", 3, func(int) float64 { return 20 }, 1, 60},
		{"but not below its own", 3, func(int) float64 { return 90 }, 1, 90},
		{"nothing at all", 3, func(int) float64 { return 0 }, 1, 60},
	} {
		s := scrapedAt(c.slots, c.samples)
		s.expect(interval15)
		if got := s.slots[c.at].expected; got != c.want {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
}

func TestTooFewSamplesAreMissing(t *testing.T) {
	for _, c := range []struct {
		samples float64
		want    slotState
	}{{2, slotMissing}, {3, slotHealthy}} {
		s := scrapedAt(8, func(int) float64 { return c.samples })
		s.classify(interval15, unhealthy, nil, 1)
		if got := s.slots[4].state; got != c.want {
			t.Errorf("%v samples in every slot: state %d, want %d", c.samples, got, c.want)
		}
	}
}

func TestIntervalOfASeries(t *testing.T) {
	const aDay = int(day / slot)
	for _, c := range []struct {
		why     string
		slots   int
		samples func(i int) float64
		want    time.Duration
	}{
		{"even", aDay, func(int) float64 { return 60 }, 15 * time.Second},
		{"both ends counted", aDay, func(int) float64 { return 61 }, 15 * time.Second},
		{"gaps do not show", aDay, func(i int) float64 { return []float64{0, 7, 60}[i%3] }, 15 * time.Second},
		{"one day of five more rarely", 5 * aDay, func(i int) float64 { return []float64{15, 60, 60, 60, 60}[i/aDay] }, time.Minute},
		{"one day of eleven", 11 * aDay, func(i int) float64 { return []float64{15, 60}[min(1, i/aDay)] }, 15 * time.Second},
		{"no data", aDay, func(int) float64 { return 0 }, 0},
	} {
		s := scrapedAt(c.slots, c.samples)
		s.classify(interval15, unhealthy, nil, 1)
		if got := s.interval(); got != c.want {
			t.Errorf("%s: %s, want %s", c.why, got, c.want)
		}
	}
}
