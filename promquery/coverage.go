package promquery

import (
	"fmt"
	"slices"
	"time"
)

// minSlotSamples are what a rate over a slot needs to mean anything.
const minSlotSamples = 3

// minDaySlots are how many slots of a day must have data for the fullest of
// them to tell what a whole one has.
const minDaySlots = 4

// scrapeDay is what one UTC day says of a group's scrapes.
type scrapeDay struct {
	slots int     // with samples
	most  float64 // samples in the fullest slot
}

// expect sets what every slot should have of samples: as many as the fullest
// slot of this group on that UTC day, since groups differ in their scrape
// interval and the interval may change. A day with little data is held to its
// neighbours too, and without those to the usual interval.
func (s *series) expect(usual time.Duration) {
	days := map[time.Time]scrapeDay{}
	for i := range s.slots {
		if n := s.slots[i].samples; n > 0 {
			d := days[s.day(i)]
			days[s.day(i)] = scrapeDay{d.slots + 1, max(d.most, n)}
		}
	}
	for i := range s.slots {
		s.slots[i].expected = expected(days, s.day(i), usual)
	}
}

func (s *series) day(i int) time.Time { return s.from(i).Truncate(day) }

func expected(days map[time.Time]scrapeDay, at time.Time, usual time.Duration) float64 {
	own := days[at]
	if own.slots >= minDaySlots {
		return own.most
	}
	for _, near := range []time.Time{at.Add(-day), at.Add(day)} {
		if n := days[near]; n.slots >= minDaySlots {
			return max(own.most, n.most)
		}
	}
	return max(own.most, float64(slot)/float64(usual))
}

// interval is the scrape interval that all but the rarest tenth of the slots
// with data keep to; 0 without data.
func (s *series) interval() time.Duration {
	var all []float64
	for i := range s.slots {
		if d := &s.slots[i]; d.state != slotMissing {
			all = append(all, d.expected)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	between, _ := spacing(slot, all[len(all)/10])
	return between
}

// widen makes the rate window long enough for the group that is scraped most
// rarely: a rate needs two samples, and below three intervals it would often
// have one. The queries are one for all groups, so that the others' peaks are
// averages over the longer window too; that is said.
func (m *measuring) widen() {
	longest, whose := m.out.ScrapeInterval, ""
	for _, g := range m.req.Groups {
		if s := m.slots[g.Name]; s != nil && s.interval() > longest {
			longest, whose = s.interval(), g.Name
		}
	}
	if 3*longest <= m.out.RateWindow {
		return
	}
	m.setWindow(longest)
	m.warn(fmt.Sprintf("%s is scraped every %s, the median series every %s: all rates are averages over %s, and shorter peaks read lower",
		whose, longest, m.out.ScrapeInterval, m.out.RateWindow))
}

// setWindow sets what follows from a scrape interval.
func (m *measuring) setWindow(interval time.Duration) {
	m.out.RateWindow = max(minRateWindow, 4*interval)
	m.out.Step = m.out.RateWindow / 4
}
