package synth

import (
	"encoding/json"
	"io"
	"math"
	"time"
)

// Truth is what really happened, counted from the calls themselves and not from
// what was scraped. Calls count where they complete, as the metrics count them.
type Truth struct {
	Seed           uint64                      `json:"seed"`
	Start          time.Time                   `json:"start"`
	End            time.Time                   `json:"end"`
	ScrapeSeconds  float64                     `json:"scrape_interval_seconds"`
	WindowSeconds  float64                     `json:"rate_window_seconds"`
	StepSeconds    float64                     `json:"rate_step_seconds"`
	Dependencies   map[string]*DependencyTruth `json:"dependencies"`
	InstancesTotal int                         `json:"instances"`
}

// DependencyTruth is the truth about one dependency.
type DependencyTruth struct {
	Label     string      `json:"label"`
	Stall     *StallTruth `json:"stall,omitempty"`
	All       Latency     `json:"all"`
	Healthy   Latency     `json:"healthy"` // without the stall and the calls it held up
	Instance  Peaks       `json:"peak_instance"`
	Fleet     Peaks       `json:"peak_fleet"`
	Instances []Peak      `json:"peak_by_instance"` // healthy, one per instance
}

// StallTruth repeats the stall of the configuration; To includes the timeout of
// the last calls that it caught.
type StallTruth struct {
	From           time.Time `json:"from"`
	To             time.Time `json:"to"`
	TimeoutSeconds float64   `json:"timeout_seconds"`
}

// Latency summarises calls. The percentile is read from a histogram of 0.1 %
// resolution; both figures are of the true durations, before any rounding.
type Latency struct {
	Calls       int64   `json:"calls"`
	Errors      int64   `json:"errors"` // timeouts included
	MeanSeconds float64 `json:"mean_seconds"`
	P99Seconds  float64 `json:"p99_seconds"`
}

// Peaks are the highest rates: of all windows, of those that the stall does not
// touch, and of those that it does.
type Peaks struct {
	All     Peak  `json:"all"`
	Healthy Peak  `json:"healthy"`
	Stall   *Peak `json:"stall,omitempty"`
}

// Peak is the rate over one window (Time-W, Time].
type Peak struct {
	Instance string    `json:"instance,omitempty"`
	RPS      float64   `json:"rps"`
	Calls    int       `json:"calls"` // in the window
	Time     time.Time `json:"time"`
}

// WriteJSON writes the truth, indented, with a newline at the end.
func (t *Truth) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(t)
}

// tally gathers durations.
type tally struct {
	calls, errors int64
	sum           float64 // ms
	fine          []int64 // by the thousandfold natural logarithm of milliseconds, from fineFrom on
}

// The fine bins reach from a nanosecond, exp(-14) ms, to exp(18) ms, 18 hours.
const (
	fineFrom = -14_000
	fineBins = 32_000
)

func (t *tally) add(took, logTook float64, how outcome) {
	if t.fine == nil {
		t.fine = make([]int64, fineBins)
	}
	t.calls++
	if how != answered {
		t.errors++
	}
	t.sum += took
	k := int(math.Floor(logTook*1000)) - fineFrom
	t.fine[min(max(k, 0), fineBins-1)]++
}

func (t *tally) merge(o *tally) {
	if o.fine == nil {
		return
	}
	if t.fine == nil {
		t.fine = make([]int64, fineBins)
	}
	t.calls += o.calls
	t.errors += o.errors
	t.sum += o.sum
	for k, n := range o.fine {
		t.fine[k] += n
	}
}

func (t *tally) summary() Latency {
	out := Latency{Calls: t.calls, Errors: t.errors}
	if t.calls == 0 {
		return out
	}
	out.MeanSeconds = decimals(t.sum/float64(t.calls)/1000, 7)
	out.P99Seconds = decimals(t.quantile(0.99), 5)
	return out
}

// quantile is in seconds, the middle of its bin.
func (t *tally) quantile(q float64) float64 {
	rank, seen := int64(math.Ceil(q*float64(t.calls))), int64(0)
	for k, n := range t.fine {
		if seen += n; seen >= rank {
			return math.Exp((float64(k+fineFrom)+0.5)/1000) / 1000
		}
	}
	return math.NaN() // not reached: the bins hold all calls
}

// decimals rounds, so that the last bit of a sum is nobody's concern.
func decimals(v float64, n int) float64 {
	scale := math.Pow10(n)
	return math.Round(v*scale) / scale
}

func newTruth(c *Config, pairs []*pair) *Truth {
	t := &Truth{
		Seed: c.Seed, Start: c.Start.UTC(), End: c.End.UTC(), InstancesTotal: len(c.Instances),
		ScrapeSeconds: c.Scrape.Seconds(), WindowSeconds: c.Window.Seconds(), StepSeconds: c.Step.Seconds(),
		Dependencies: map[string]*DependencyTruth{},
	}
	per := len(c.Instances)
	for d := range c.Dependencies {
		t.Dependencies[c.Dependencies[d].Name] = newDependencyTruth(pairs[d*per : (d+1)*per])
	}
	return t
}

func newDependencyTruth(pairs []*pair) *DependencyTruth {
	first := pairs[0]
	out := &DependencyTruth{Label: first.dependency.Label}
	if s := first.dependency.Stall; s != nil {
		out.Stall = &StallTruth{s.From.UTC(), s.To.Add(s.Timeout).UTC(), s.Timeout.Seconds()}
	}
	var all, healthy tally
	fleet := make([]uint32, len(first.counted))
	for i, p := range pairs {
		all.merge(&p.all)
		healthy.merge(&p.healthy)
		for k, n := range p.counted {
			fleet[k] += n
		}
		one := p.peaks(p.counted)
		one.name(p.instance.Name)
		out.Instances = append(out.Instances, one.Healthy)
		if i == 0 {
			out.Instance = one
		}
		out.Instance.raise(one)
	}
	out.All, out.Healthy = all.summary(), healthy.summary()
	out.Fleet = first.peaks(fleet)
	return out
}

// peaks finds the highest windows of the counts.
func (p *pair) peaks(counted []uint32) Peaks {
	var out, stall Peaks
	width := int(p.config.Window / p.config.Step)
	sum := 0
	for k := 1; k < len(counted); k++ {
		sum += int(counted[k])
		if k < width {
			continue
		}
		if k > width {
			sum -= int(counted[k-width])
		}
		peak := Peak{Calls: sum, RPS: decimals(float64(sum)/p.config.Window.Seconds(), 4), Time: p.config.Start.Add(time.Duration(k) * p.config.Step).UTC()}
		out.All.raise(peak)
		if p.sick(k-width, k) {
			stall.All.raise(peak)
			continue
		}
		out.Healthy.raise(peak)
	}
	if p.dependency.Stall != nil {
		out.Stall = &stall.All
	}
	return out
}

// sick says whether the stall touches the window between two steps.
func (p *pair) sick(from, to int) bool {
	return p.dependency.Stall != nil && float64(to)*p.step > p.sickFrom && float64(from)*p.step < p.sickTo
}

// raise keeps the higher peak; the earlier one where they are equal.
func (p *Peak) raise(o Peak) {
	if o.Calls > p.Calls {
		*p = o
	}
}

func (p *Peaks) raise(o Peaks) {
	p.All.raise(o.All)
	p.Healthy.raise(o.Healthy)
	if p.Stall != nil && o.Stall != nil {
		p.Stall.raise(*o.Stall)
	}
}

func (p *Peaks) name(instance string) {
	p.All.Instance, p.Healthy.Instance = instance, instance
	if p.Stall != nil {
		p.Stall.Instance = instance
	}
}
