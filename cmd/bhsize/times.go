package main

import (
	"fmt"
	"time"

	"github.com/bhsize/bhsize/promquery"
	"github.com/bhsize/bhsize/sizing"
)

// settle is how long a server is given before its newest samples count: late
// remote writes, and the latency offset of some stores.
const settle = 5 * time.Minute

// times is the window to measure. A nil start leaves it to the file.
func (f *recommendFlags) times(q promquery.Querier) (start *time.Time, end time.Time, err error) {
	if end, err = f.endTime(q); err != nil {
		return nil, end, err
	}
	if f.start != "" {
		from, err := parseTime("--start", f.start)
		return &from, end, err
	}
	if f.window != "" {
		length, err := parseWindow(f.window)
		from := end.Add(-length)
		return &from, end, err
	}
	return nil, end, nil
}

// endTime is --end, or the last sample of a file, or the last whole slot
// before now.
func (f *recommendFlags) endTime(q promquery.Querier) (time.Time, error) {
	bounded, ok := q.(promquery.Bounded)
	switch {
	case f.end != "":
		return parseTime("--end", f.end)
	case ok: // whatever the time is, a file ends with its last sample
		_, last := bounded.Bounds()
		return promquery.CeilSlot(last), nil
	case f.now != "":
		now, err := parseTime("--now", f.now)
		return settled(now), err
	}
	return settled(time.Now()), nil
}

func settled(now time.Time) time.Time { return now.UTC().Add(-settle).Truncate(promquery.Slot) }

func parseTime(flag, text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%s %q is no time: write 2026-11-30 or 2026-11-30T12:00:00Z", flag, text)
}

// longest is the longest window: no store keeps more of it raw.
const longest = 400 * 24 * time.Hour

func parseWindow(text string) (time.Duration, error) {
	r, err := sizing.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("--window: %w", err)
	}
	if s := sizing.Float(r); s > longest.Seconds() || s < promquery.Slot.Seconds() {
		return 0, fmt.Errorf("--window %q is out of range: use something between 15m and 400d, such as 14d", text)
	}
	return time.Duration(sizing.Float(r) * float64(time.Second)), nil
}
