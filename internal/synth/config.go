// Package synth makes metrics histories whose truth is known: what a Prometheus
// would have scraped from a fleet of callers, and what the callers really did.
//
// Every call is simulated: it arrives by a Poisson process whose rate follows
// the hour, takes a lognormal time, is counted when it completes, and is seen by
// Prometheus at the next scrape. The same Config gives the same History and the
// same Truth, byte for byte.
package synth

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Config describes a fleet, its dependencies, and how it is scraped.
type Config struct {
	Seed       uint64
	Start, End time.Time     // multiples of Step; the processes start at Start with all counters at zero
	Scrape     time.Duration // scrape interval
	Step       time.Duration // of the evaluation that Truth is about; whole seconds
	Window     time.Duration // of the rates in Truth; a multiple of Step

	Instances    []Instance
	Dependencies []Dependency
	Naming       Naming
	Gaps         []Window // in which nothing is scraped

	// FromStart makes every series begin with the first scrape, at zero.
	// Otherwise a series begins with the scrape after its first call, as with a
	// client that knows no label value before it occurs; there rate() loses the
	// calls before that scrape, and Prometheus 2 and 3 extrapolate differently.
	FromStart bool
}

// Instance is one process of the caller.
type Instance struct {
	Name     string        // value of the instance label
	Offset   time.Duration // of its scrapes from multiples of the scrape interval; less than one interval
	Weight   float64       // its share of traffic; 1 is the rate that Traffic names
	Restarts []time.Time   // its counters start again from zero, and its calls in flight are lost
}

// Dependency is what is called, and how it answers.
type Dependency struct {
	Name    string // key in Truth
	Label   string // value of the dependency label
	Traffic Traffic
	Latency Lognormal
	Errors  Errors
	Stall   *Stall
}

// Errors are calls that the dependency answers with a failure, as fast as it
// answers the others. They come in spells, as errors do.
type Errors struct {
	Ratio float64       // share of all answered calls
	Every time.Duration // a spell begins at the start and again after each such time; 0 for no spells: errors at all times
	Spell time.Duration // and lasts as long
}

// Lognormal is a latency distribution: exp(N(ln Median, Sigma)).
type Lognormal struct {
	Median time.Duration
	Sigma  float64
}

// P99 is the exact 99th percentile of the distribution.
func (l Lognormal) P99() time.Duration {
	return time.Duration(float64(l.Median) * math.Exp(l.Sigma*normalP99))
}

// Mean is the exact mean of the distribution.
func (l Lognormal) Mean() time.Duration {
	return time.Duration(float64(l.Median) * math.Exp(l.Sigma*l.Sigma/2))
}

// normalP99 is the 99th percentile of the standard normal distribution.
const normalP99 = 2.3263478740408408

// Stall is a time in which the dependency accepts calls and never answers: each
// fails at the caller's timeout, and the caller's retries raise the traffic.
type Stall struct {
	Window
	Timeout time.Duration
	Factor  float64 // on the rate, by retries; 1 without
}

// Window is a span of time, From included, To not.
type Window struct{ From, To time.Time }

func (w Window) holds(t time.Time) bool { return !t.Before(w.From) && t.Before(w.To) }

// Naming is how the metrics are called.
type Naming struct {
	Counter    string // counter of calls; empty where the histogram's count serves
	Histogram  string // name without _bucket, _sum, _count; empty for none
	Unit       time.Duration
	Bounds     []float64 // finite upper bounds in Unit, rising
	Whole      bool      // durations are recorded in whole units, rounded to nearest
	Dependency string    // label names
	Instance   string
	Fixed      []Label // on every series
	Answered   []Label // on the series of calls that succeeded
	Failed     []Label // of those that failed with an answer
	TimedOut   []Label // of those that got none
}

// Label is one label of a series.
type Label struct{ Name, Value string }

// Validate says what is wrong with the configuration, if anything.
func (c *Config) Validate() error {
	return errors.Join(c.validateTimes(), c.validateFleet(), c.validateNaming())
}

func (c *Config) validateTimes() error {
	switch {
	case c.Step < time.Second || c.Step%time.Second != 0:
		return fmt.Errorf("step %s: give whole seconds", c.Step)
	case c.Window < c.Step || c.Window%c.Step != 0:
		return fmt.Errorf("window %s: give a multiple of the step %s", c.Window, c.Step)
	case c.Scrape < time.Second:
		return fmt.Errorf("scrape interval %s: give at least 1s", c.Scrape)
	case !c.Start.Truncate(c.Step).Equal(c.Start) || !c.End.Truncate(c.Step).Equal(c.End):
		return fmt.Errorf("start %s and end %s: give multiples of the step %s", c.Start, c.End, c.Step)
	case c.End.Sub(c.Start) < c.Window:
		return fmt.Errorf("history of %s: give at least the window, %s", c.End.Sub(c.Start), c.Window)
	}
	return nil
}

func (c *Config) validateFleet() error {
	if len(c.Instances) == 0 || len(c.Dependencies) == 0 {
		return errors.New("no instance or no dependency: give at least one of each")
	}
	for _, i := range c.Instances {
		if i.Offset < 0 || i.Offset >= c.Scrape || !(i.Weight > 0) {
			return fmt.Errorf("instance %q: offset %s, weight %v: give an offset below %s and a weight above 0", i.Name, i.Offset, i.Weight, c.Scrape)
		}
	}
	for i := range c.Dependencies {
		if err := c.Dependencies[i].validate(); err != nil {
			return fmt.Errorf("dependency %q: %w", c.Dependencies[i].Name, err)
		}
	}
	return nil
}

func (d *Dependency) validate() error {
	if d.Latency.Median <= 0 || !(d.Latency.Sigma >= 0) {
		return fmt.Errorf("latency %+v: give a median above 0 and a sigma of at least 0", d.Latency)
	}
	if !(d.Traffic.Rate >= 0) || math.IsInf(d.Traffic.Rate, 1) {
		return fmt.Errorf("rate %v: give a number of at least 0", d.Traffic.Rate)
	}
	for _, h := range d.Traffic.Humps {
		if !(h.Width > 0) {
			return fmt.Errorf("hump %+v: give a width above 0", h)
		}
	}
	if e := d.Errors; !(e.Ratio >= 0 && e.Ratio <= 1) || e.Every < 0 || e.Every > 0 && e.Spell <= 0 {
		return fmt.Errorf("errors %+v: give a ratio from 0 to 1, and a spell with every", e)
	}
	if s := d.Stall; s != nil && (s.Timeout <= 0 || !(s.Factor > 0)) {
		return errors.New("stall without a timeout or a factor: give both above 0")
	}
	return nil
}

func (c *Config) validateNaming() error {
	n := &c.Naming
	if n.Counter == "" && n.Histogram == "" {
		return errors.New("naming: give a counter, a histogram, or both")
	}
	if n.Unit <= 0 {
		return fmt.Errorf("naming: unit %s: give one above 0", n.Unit)
	}
	for i := 1; i < len(n.Bounds); i++ {
		if !(n.Bounds[i] > n.Bounds[i-1]) {
			return fmt.Errorf("naming: bound %v after %v: give rising bounds", n.Bounds[i], n.Bounds[i-1])
		}
	}
	return nil
}
