package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/bhsize/bhsize/internal/diag"
	"github.com/bhsize/bhsize/internal/plan"
	"github.com/bhsize/bhsize/promquery"
	"github.com/bhsize/bhsize/sizing"
)

// JSON writes the plan as one object. Field names are stable and carry their
// unit; what is unknown is null. docs/json.md describes it.
func JSON(w io.Writer, p *plan.Plan) error {
	doc := document{Fits: p.Fits(), Services: []serviceJSON{}, Bulkheads: []bulkheadJSON{}, Pools: []poolJSON{}, Backends: []backendJSON{}}
	for _, s := range p.Services {
		doc.Services = append(doc.Services, newServiceJSON(s))
		for _, b := range s.Bulkheads {
			doc.Bulkheads = append(doc.Bulkheads, newBulkheadJSON(s, b))
		}
		for _, pool := range s.Pools {
			doc.Pools = append(doc.Pools, newPoolJSON(s, pool))
		}
	}
	for _, b := range p.Backends {
		doc.Backends = append(doc.Backends, backendJSON{b.Name, b.Sizing.Capacity, b.Sizing.Reserved, b.Sizing.Others, b.Available, b.Used, b.Fits})
	}
	return encode(w, doc)
}

func encode(w io.Writer, doc any) error {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, escapeUnsafe(b.String()))
	return err
}

// escapeUnsafe writes the characters that act on a terminal, and that JSON
// allows as they are, as \uXXXX: the value stays the same.
func escapeUnsafe(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x7f || !diag.Acts(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

type document struct {
	Fits      bool           `json:"fits"` // every pool uncut, and every backend
	Services  []serviceJSON  `json:"services"`
	Bulkheads []bulkheadJSON `json:"bulkheads"`
	Pools     []poolJSON     `json:"pools"`
	Backends  []backendJSON  `json:"backends"`
}

type serviceJSON struct {
	Name                  string      `json:"name"`
	File                  string      `json:"file"`
	Measured              bool        `json:"measured"`
	Preset                *string     `json:"preset"`
	Start                 *string     `json:"start"`
	End                   *string     `json:"end"`
	DataStart             *string     `json:"data_start"`
	ScrapeIntervalSeconds *float64    `json:"scrape_interval_seconds"`
	RateWindowSeconds     *float64    `json:"rate_window_seconds"`
	StepSeconds           *float64    `json:"step_seconds"`
	Requests              int         `json:"requests"`
	Queries               []queryJSON `json:"queries"`
	Notes                 []string    `json:"notes"`
}

type queryJSON struct {
	Purpose     string  `json:"purpose"`
	Expr        string  `json:"expr"`
	StepSeconds float64 `json:"step_seconds"`
}

func newServiceJSON(s *plan.Service) serviceJSON {
	out := serviceJSON{Name: s.Name, File: s.File.Name, Notes: orEmpty(s.Notes), Queries: []queryJSON{}}
	m := s.Measurement
	if m == nil {
		return out
	}
	out.Measured, out.Preset, out.Requests = true, text(m.Preset), m.Requests
	out.Start, out.End, out.DataStart = stamp(m.Start), stamp(m.End), stamp(m.DataStart)
	out.ScrapeIntervalSeconds, out.RateWindowSeconds, out.StepSeconds = secs(m.ScrapeInterval), secs(m.RateWindow), secs(m.Step)
	for _, q := range m.Queries {
		out.Queries = append(out.Queries, queryJSON{q.Purpose, q.Expr, q.Step.Seconds()})
	}
	return out
}

type bulkheadJSON struct {
	Name               string   `json:"name"`
	Service            string   `json:"service"`
	Pool               string   `json:"pool"`
	Criticality        string   `json:"criticality"`
	PeakRPS            *float64 `json:"peak_rps"`       // per instance, the binding one
	PeakRPSFleet       *float64 `json:"peak_rps_fleet"` // all instances
	PeakRPSBusiest     *float64 `json:"peak_rps_busiest_instance"`
	PeakRPSFleetShare  *float64 `json:"peak_rps_fleet_share"` // fleet / fewest instances x skew
	PeakAt             *string  `json:"peak_at"`
	Skew               *float64 `json:"skew"`
	InstancesMin       *int     `json:"instances_min"`
	InstancesMax       *int     `json:"instances_max"`
	P99Seconds         *float64 `json:"p99_seconds"`
	P99LowSeconds      *float64 `json:"p99_low_seconds"`
	P99HighSeconds     *float64 `json:"p99_high_seconds"` // null: above every finite bound
	MeanSeconds        *float64 `json:"mean_seconds"`
	Calls              *int64   `json:"calls"`
	Level              *string  `json:"level"`
	Attempts           *float64 `json:"attempts"`
	AttemptsWorst      *int64   `json:"attempts_worst"`
	Headroom           any      `json:"headroom"` // a factor, or "auto"
	SizedBy            *string  `json:"sized_by"`
	Demand             *float64 `json:"demand"` // rate x attempts x p99, calls in flight
	PermitsNow         *int     `json:"permits_now"`
	Permits            *int     `json:"permits"`
	PermitsUncut       *int     `json:"permits_uncut"`
	PermitsByLoss      *int     `json:"permits_by_loss"` // the fewest that meet target_shed
	PermitsLow         *int     `json:"permits_low"`
	PermitsHigh        *int     `json:"permits_high"`
	MeanInFlight       *float64 `json:"mean_in_flight"`
	MeasuredInFlight   *float64 `json:"measured_in_flight"` // mean over the rate window, busiest instance
	ShedProbability    *float64 `json:"shed_probability"`
	ShedProbabilityNow *float64 `json:"shed_probability_now"`
	ShedOverWindow     *float64 `json:"shed_probability_over_window"`
	ShedWithQueueLow   *float64 `json:"shed_with_queue_low"`
	ShedWithQueueHigh  *float64 `json:"shed_with_queue_high"`
	ShedWithQueueAbout *float64 `json:"shed_with_queue_about"`
	BlastRadius        *float64 `json:"blast_radius"`
	stallJSON
	WorstWaitSeconds *float64       `json:"worst_wait_seconds"`
	FitsDeadline     *bool          `json:"fits_deadline"`
	Confidence       string         `json:"confidence"`
	Doubts           []string       `json:"doubts"`
	Notes            []string       `json:"notes"`
	Failure          *string        `json:"failure"`
	Next             *string        `json:"next"`
	Excluded         []excludedJSON `json:"excluded"`
	Unmasked         *unmaskedJSON  `json:"unmasked"`
}

type stallJSON struct {
	StallHold             *float64 `json:"stall_hold"`         // permits held
	StallFills            *bool    `json:"stall_fills"`        // whether all permits come to be held
	StallFillSeconds      *float64 `json:"stall_fill_seconds"` // null: never, or unknown
	StallFillEmptySeconds *float64 `json:"stall_fill_from_empty_seconds"`
	StallPermitSeconds    *float64 `json:"stall_permit_seconds_per_call"` // null: unbounded
}

type excludedJSON struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Reason string `json:"reason"`
}

type unmaskedJSON struct {
	PeakRPS     *float64 `json:"peak_rps_busiest_instance"`
	P99Seconds  *float64 `json:"p99_seconds"`
	MeanSeconds *float64 `json:"mean_seconds"`
}

func newBulkheadJSON(s *plan.Service, b *plan.Bulkhead) bulkheadJSON {
	out := bulkheadJSON{
		Name: b.Spec.Name, Service: s.Name, Pool: b.Spec.Pool, Criticality: b.Spec.Criticality.String(),
		Attempts: rat(b.Attempts), Headroom: headroomJSON(b.Spec.Headroom), SizedBy: text(string(b.SizedBy)),
		Demand: rat(b.Demand), PermitsNow: b.Now, Permits: b.Permits, PermitsUncut: b.Wanted, PermitsByLoss: b.ByLoss, PermitsLow: b.Low, PermitsHigh: b.High,
		MeanInFlight: sig(b.MeanInFlight), ShedProbability: b.Shed, ShedProbabilityNow: b.ShedNow, ShedOverWindow: sig(b.ShedWindow),
		BlastRadius: b.Blast, WorstWaitSeconds: rat(b.WorstWait), FitsDeadline: b.FitsDeadline,
		Confidence: string(b.Confidence), Doubts: texts(b.Doubts), Notes: texts(b.Notes), Failure: text(b.Failure), Next: text(b.Next),
		stallJSON: newStallJSON(b.Stall), Excluded: []excludedJSON{},
	}
	if b.WorstAttempts > 0 {
		out.AttemptsWorst = &b.WorstAttempts
	}
	if q := b.QueueShed; q != nil {
		out.ShedWithQueueLow, out.ShedWithQueueHigh, out.ShedWithQueueAbout = sig(&q.Low), sig(&q.High), sig(&q.About)
	}
	out.traffic(b.Traffic)
	out.measured(b.Measured)
	return out
}

func (out *bulkheadJSON) traffic(t *plan.Traffic) {
	if t == nil {
		return
	}
	out.PeakRPS, out.PeakRPSFleet, out.PeakRPSBusiest, out.PeakRPSFleetShare = rat(t.PeakRPS), rat(t.FleetPeak), rat(t.Busiest), rat(t.FleetShare)
	out.PeakAt = stamp(t.PeakAt)
	out.InstancesMin, out.InstancesMax = count(t.Instances.Min), count(t.Instances.Max)
	out.P99Seconds, out.P99LowSeconds, out.P99HighSeconds, out.MeanSeconds = rat(t.P99), rat(t.P99Low), rat(t.P99High), rat(t.Mean)
	out.Calls, out.Level = t.Calls, text(string(t.Level))
}

func (out *bulkheadJSON) measured(d *promquery.Dependency) {
	if d == nil {
		return
	}
	out.Skew, out.MeasuredInFlight = sig(&d.Skew), sig(&d.InFlight.Value)
	for _, m := range d.Masked {
		out.Excluded = append(out.Excluded, excludedJSON{*stamp(m.From), *stamp(m.To), m.Reason})
	}
	out.Unmasked = &unmaskedJSON{sig(&d.PeakInstanceAll.Value), sig(&d.P99All.Value), sig(&d.MeanAll)}
}

func newStallJSON(e *sizing.StallEffect) stallJSON {
	if e == nil {
		return stallJSON{}
	}
	return stallJSON{StallHold: &e.Hold, StallFills: &e.Fills, StallFillSeconds: sig(e.Fill), StallFillEmptySeconds: sig(e.FillFromEmpty), StallPermitSeconds: e.PermitSeconds}
}

type poolJSON struct {
	Name             string    `json:"name"`
	Service          string    `json:"service"`
	Size             int       `json:"size"`
	Reserved         int       `json:"reserved"`
	Available        int       `json:"available"` // size - reserved
	Budget           int       `json:"budget"`    // available x overcommit ratio
	PermitsNow       *int      `json:"permits_now"`
	Permits          int       `json:"permits"` // what the bulkheads ask for, before any cut
	PermitsAfterCuts int       `json:"permits_after_cuts"`
	Fits             *bool     `json:"fits"`  // permits are within the budget; null: not known
	Short            int       `json:"short"` // permits missing even after the cuts
	Cuts             []cutJSON `json:"cuts"`
	SizeNeeded       *int      `json:"size_needed"`
	InstancesNeeded  *int      `json:"instances_needed"`
	LeftAfterStalls  []int     `json:"left_after_stalls"`
	FullProbability  *float64  `json:"full_probability"`
	FullWhileStall   *float64  `json:"full_probability_while_stalled"`
	ThreadsNeed      *int      `json:"size_needed_against_deadlock"`
	Unsized          []string  `json:"unsized"`
}

type cutJSON struct {
	Name       string   `json:"name"`
	From       int      `json:"from"`
	To         int      `json:"to"`
	ShedBefore *float64 `json:"shed_before"`
	ShedAfter  *float64 `json:"shed_after"`
	Reason     string   `json:"reason"`
}

func newPoolJSON(s *plan.Service, p *plan.Pool) poolJSON {
	out := poolJSON{
		Name: p.Spec.Name, Service: s.Name, Size: p.Spec.Size, Reserved: p.Spec.Reserved, Available: p.Available, Budget: p.Budget,
		Permits: p.Wanted, PermitsAfterCuts: p.Permits, Fits: p.Fits, Short: p.Short, Cuts: []cutJSON{},
		SizeNeeded: p.SizeFor, InstancesNeeded: p.InstancesFor, LeftAfterStalls: orEmpty(p.LeftAfter), ThreadsNeed: p.ThreadsNeed, Unsized: orEmpty(p.Unsized),
	}
	if p.NowKnown {
		out.PermitsNow = &p.Now
	}
	for _, c := range p.Cuts {
		out.Cuts = append(out.Cuts, cutJSON{c.Name, c.From, c.To, c.ShedBefore, c.ShedAfter, cutReason(c)})
	}
	if p.Full != nil {
		out.FullProbability, out.FullWhileStall = sig(&p.Full.Probability), sig(&p.Full.WhileStalled)
	}
	return out
}

type backendJSON struct {
	Name      string `json:"name"`
	Capacity  int    `json:"capacity"`
	Reserved  int    `json:"reserved"`
	Others    int    `json:"others"`
	Available int    `json:"available"`
	Used      int    `json:"used"`
	Fits      *bool  `json:"fits"` // null: the instances of some service are not known
}

func headroomJSON(h sizing.Headroom) any {
	if h.Auto {
		return "auto"
	}
	return rat(h.Factor)
}

func rat(r *big.Rat) *float64 {
	if r == nil {
		return nil
	}
	f := sizing.Float(r)
	return &f
}

// sig keeps 6 significant digits: two engines that sum in another order agree
// on those. NaN and infinities are unknown.
func sig(x *float64) *float64 {
	if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
		return nil
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(*x, 'g', 6, 64), 64)
	if err != nil {
		return nil
	}
	return &short
}

func stamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format(time.RFC3339)
	return &s
}

func secs(d time.Duration) *float64 { s := d.Seconds(); return &s }

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func count(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
