package synth

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
)

// outcome is how a call ends; each has its own series.
type outcome int

const (
	answered outcome = iota
	failed
	timedOut
	outcomes
)

// Generate simulates the configuration. The error says which field is wrong.
func Generate(c *Config) (*History, *Truth, error) {
	if err := c.Validate(); err != nil {
		return nil, nil, fmt.Errorf("synthetic history: %w", err)
	}
	h := &History{config: c}
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	for d := range c.Dependencies {
		for i := range c.Instances {
			p := newPair(c, &c.Instances[i], &c.Dependencies[d])
			h.pairs = append(h.pairs, p)
			work.Go(func() error { p.simulate(); return nil })
		}
	}
	if err := work.Wait(); err != nil {
		return nil, nil, err
	}
	return h, newTruth(c, h.pairs), nil
}

// pair is one instance's calls to one dependency. Times inside it are
// milliseconds since the start.
type pair struct {
	config     *Config
	instance   *Instance
	dependency *Dependency
	draw       source

	offset, scrape, step float64 // ms
	restarts             []float64
	stallFrom, stallTo   float64 // arrivals; an empty span without a stall
	sickFrom, sickTo     float64 // completions that the stall may have touched

	logMedian float64 // of milliseconds
	failing   float64 // share of calls that fail in this second

	scraped [outcomes][]bin // what each scrape added
	counted []uint32        // completions by evaluation step
	all     tally
	healthy tally
}

// bin is what was recorded between two scrapes.
type bin struct {
	calls   uint32
	sum     float64  // in the naming's unit
	buckets []uint32 // one per bound, then +Inf; not cumulative
}

func newPair(c *Config, i *Instance, d *Dependency) *pair {
	p := &pair{
		config: c, instance: i, dependency: d,
		draw:   newSource(c.Seed, i.Name, d.Name),
		offset: millis(i.Offset), scrape: millis(c.Scrape), step: millis(c.Step),
		counted: make([]uint32, c.steps()+1), logMedian: math.Log(millis(d.Latency.Median)),
	}
	for _, t := range i.Restarts {
		p.restarts = append(p.restarts, millis(t.Sub(c.Start)))
	}
	if s := d.Stall; s != nil {
		p.stallFrom, p.stallTo = millis(s.From.Sub(c.Start)), millis(s.To.Sub(c.Start))
		p.sickFrom, p.sickTo = p.stallFrom, p.stallTo+millis(s.Timeout)
	}
	for o := range p.scraped {
		p.scraped[o] = makeBins(p.scrapes(), len(c.Naming.Bounds)+1)
	}
	return p
}

func makeBins(n, buckets int) []bin {
	all := make([]uint32, n*buckets)
	bins := make([]bin, n)
	for k := range bins {
		bins[k].buckets = all[k*buckets : (k+1)*buckets]
	}
	return bins
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// steps is the number of evaluation steps after the start.
func (c *Config) steps() int { return int(c.End.Sub(c.Start) / c.Step) }

// scrapes is the number of scrapes of the instance, up to and including the end.
func (p *pair) scrapes() int {
	return int((p.config.End.Sub(p.config.Start)-p.instance.Offset)/p.config.Scrape) + 1
}

// simulate draws all calls, second by second: within a second the rate is
// constant, and the exponential distribution forgets what came before.
func (p *pair) simulate() {
	seconds := int(p.config.End.Sub(p.config.Start) / time.Second)
	for s := range seconds {
		start := float64(s) * 1000
		rate := p.rate(start)
		if rate <= 0 {
			continue
		}
		p.failing = p.dependency.Errors.at(start)
		gap := 1000 / rate
		for at := float64(p.draw.exponential() * gap); at < 1000; at += float64(p.draw.exponential() * gap) {
			p.call(start + at)
		}
	}
}

// rate is the rate of arrivals in the second that begins at start.
func (p *pair) rate(start float64) float64 {
	t := p.config.Start.Add(time.Duration(start+500) * time.Millisecond)
	rate := p.dependency.Traffic.At(t) * p.instance.Weight
	if p.stalled(start + 500) {
		rate *= p.dependency.Stall.Factor
	}
	return rate
}

func (p *pair) stalled(at float64) bool { return at >= p.stallFrom && at < p.stallTo }

// call lets one call arrive, and counts it where it completes.
func (p *pair) call(at float64) {
	took, logTook, how := p.answer(at)
	done := at + took
	lost := false
	for _, r := range p.restarts {
		if at < r && r <= done {
			return // in flight when the process died
		}
		lost = lost || done < r && done > r-p.scrape && p.bin(done) == p.bin(r)
	}
	p.count(done, took, logTook, how)
	if k := p.bin(done); k < len(p.scraped[how]) && !lost {
		p.scraped[how][k].record(took/millis(p.config.Naming.Unit), &p.config.Naming)
	}
}

// answer draws how long a call takes, in ms and as their logarithm, and how it ends.
func (p *pair) answer(at float64) (took, logTook float64, how outcome) {
	z := p.draw.normal()
	fails := p.draw.uniform() < p.failing
	if p.stalled(at) {
		took = millis(p.dependency.Stall.Timeout)
		return took, math.Log(took), timedOut
	}
	logTook = float64(p.dependency.Latency.Sigma*z) + p.logMedian
	if fails {
		how = failed
	}
	return math.Exp(logTook), logTook, how
}

// bin is the scrape that first sees what completes at t.
func (p *pair) bin(t float64) int {
	return max(0, int(math.Ceil((t-p.offset)/p.scrape)))
}

// count keeps the truth: what completes in (k-1, k] steps belongs to step k.
func (p *pair) count(done, took, logTook float64, how outcome) {
	k := int(math.Ceil(done / p.step))
	if k >= len(p.counted) {
		return // after the end
	}
	p.counted[k]++
	p.all.add(took, logTook, how)
	if done < p.sickFrom || done > p.sickTo || p.sickTo == 0 {
		p.healthy.add(took, logTook, how)
	}
}

func (b *bin) record(v float64, n *Naming) {
	if n.Whole {
		v = math.Floor(v + 0.5)
	}
	k := 0
	for k < len(n.Bounds) && v > n.Bounds[k] {
		k++
	}
	b.calls++
	b.sum += v
	b.buckets[k]++
}
