package promquery

import (
	"fmt"
	"time"
)

// Remark is something to say about a number. Whoever acts on it, or suppresses
// it, goes by the ID; the text is for people and may change.
type Remark struct {
	ID, Text string
}

// What can be said about a measurement.
const (
	RemarkOneBucket  = "one-bucket"      // nearly all calls lie in one finite bucket: the p99 says nothing
	RemarkBounds     = "bounds"          // bounds made for another unit than they hold: the p99 says nothing
	RemarkUnit       = "unit"            // the bounds make no sense in the unit named: no number
	RemarkMean       = "impossible-mean" // sum and buckets contradict each other: no number
	RemarkOrder      = "not-cumulative"  // a bucket counts fewer calls than a lower one: no p99, and no number where that is the last one
	RemarkNoBounds   = "no-bounds"       // no finite bucket bound: there is no p99
	RemarkWideBucket = "wide-bucket"     // the bounds around the p99 are far apart
	RemarkPopulation = "population"      // counter and histogram count different calls
	RemarkAttempts   = "attempts"        // fewer attempts than whole calls: how many a call takes is unknown
	RemarkFewCalls   = "few-calls"
	RemarkShortData  = "short-data"
	RemarkCoverage   = "coverage"   // much of the window has no data
	RemarkIncomplete = "incomplete" // the server warned: its answers may lack something
	RemarkCensored   = "censored"   // the present limit rejected calls: the rate is a floor
)

// LittleData says why so many calls over so much covered time are too few for
// full confidence; nil when they are not.
func LittleData(calls float64, covered time.Duration) []Remark {
	var all []Remark
	if calls < fewCalls {
		all = append(all, Remark{RemarkFewCalls, fmt.Sprintf("only %.0f healthy calls (under %d)", calls, fewCalls)})
	}
	if covered < shortCover {
		all = append(all, Remark{RemarkShortData, fmt.Sprintf("only %s of data (under 3 days)", hours(covered))})
	}
	return all
}

// WideBucket says that the bounds around a p99, in seconds, are too far apart
// for full confidence; nil when they are not.
func WideBucket(low, high float64) []Remark {
	if high/low > wideResolution {
		return []Remark{{RemarkWideBucket, fmt.Sprintf("the p99 lies somewhere between %s s and %s s: bounds more than %g times apart",
			number(low), number(high), wideResolution)}}
	}
	return nil
}

// CensoredRate says that a limit in force rejected so many calls while the
// others were counted.
func CensoredRate(rejected float64) Remark {
	return Remark{RemarkCensored, fmt.Sprintf("the present limit rejected %.0f calls: the rate is a floor", rejected)}
}

func hours(d time.Duration) string {
	n, unit := d.Hours(), "hour"
	if d >= day && d%day == 0 {
		n, unit = float64(d/day), "day"
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%g %s", n, unit)
}
