package report

import (
	"fmt"
	"math/big"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/bhsize/bhsize/internal/diag"
	"github.com/bhsize/bhsize/internal/plan"
	"github.com/bhsize/bhsize/promquery"
)

// step is one line of a derivation: a quantity, its value, and where it comes from.
type step struct{ term, value, why string }

// derivation lists, in the order of the arithmetic, how a bulkhead's number
// comes about and what it does.
func derivation(b *plan.Bulkhead) []step {
	var steps []step
	steps = append(steps, trafficSteps(b)...)
	if b.Rate == nil {
		return steps
	}
	steps = append(steps, attemptSteps(b)...)
	steps = append(steps, permitSteps(b)...)
	steps = append(steps, shedSteps(b)...)
	return append(steps, stallSteps(b)...)
}

func trafficSteps(b *plan.Bulkhead) []step {
	t := b.Traffic
	if t == nil {
		return nil
	}
	steps := []step{{"peak rate", number(t.PeakRPS) + "/s", peakWhy(t)}}
	if t.FleetShare != nil {
		steps = append(steps,
			step{"", number(t.Busiest) + "/s", "the busiest instance" + binding(!t.FleetBinds())},
			step{"", number(t.FleetShare) + "/s", fmt.Sprintf("fleet peak %s/s / %s x skew %.4g%s", number(t.FleetPeak),
				plural(t.Instances.Min, "instance", "instances"), skew(b), binding(t.FleetBinds()))})
	}
	if b.Rate != nil && b.Rate.Cmp(t.PeakRPS) != 0 {
		steps = append(steps, step{"per process", short(b.Rate) + "/s", "peak rate / processes of an instance"})
	}
	steps = append(steps, step{"p99", seconds(t.P99), p99Why(b)})
	return append(steps, step{"mean", seconds(t.Mean), "time that a permit is held on average; unknown without the sum of durations"})
}

func binding(is bool) string {
	if is {
		return ", which binds"
	}
	return ""
}

func skew(b *plan.Bulkhead) float64 {
	if b.Measured == nil {
		return 1
	}
	return b.Measured.Skew
}

func peakWhy(t *plan.Traffic) string {
	if t.FromFile {
		return "per instance, as given"
	}
	return fmt.Sprintf("per instance, at %s, in healthy weather", at(t.PeakAt))
}

func p99Why(b *plan.Bulkhead) string {
	t := b.Traffic
	if d := b.Measured; d != nil && d.P99.Clipped() {
		return "above the highest bucket bound: no number"
	}
	switch {
	case t.P99 == nil && t.FromFile:
		return "not given"
	case t.P99 == nil:
		return "not told: too little or too unhealthy data"
	case t.P99Low == nil || t.P99High == nil:
		return "as given"
	}
	why := fmt.Sprintf("lies between the bucket bounds %s and %s", seconds(t.P99Low), seconds(t.P99High))
	if t.FromFile {
		return why
	}
	return why + ", interpolated as histogram_quantile does"
}

func attemptSteps(b *plan.Bulkhead) []step {
	steps := []step{{"attempts", short(b.Attempts), attemptsWhy(b)}}
	if b.WorstAttempts > 1 {
		steps = append(steps, step{"", fmt.Sprint(b.WorstAttempts), "attempts a call at worst, every retry taken: not sized by, since that would let a retry storm in"})
	}
	return steps
}

func attemptsWhy(b *plan.Bulkhead) string {
	r := b.Spec.Retries
	switch {
	case r == nil || b.WorstAttempts <= 1:
		return "no retries"
	case b.Spec.Covers == "call" && b.Traffic.Level == promquery.LevelCall:
		return "rate and duration are those of whole calls, and a permit covers the whole call: retries are in them"
	}
	var parts []string
	if r.BudgetRatio != nil {
		text := fmt.Sprintf("budget: min(%d, 1 + %s", max(r.MaxAttempts, 1), number(r.BudgetRatio))
		if min := r.BudgetMinPerSecond; min != nil && min.Sign() > 0 {
			text += fmt.Sprintf(" + %s / %s", number(min), number(b.CallRate()))
		}
		parts = append(parts, text+")")
	}
	if r.FailureRatio != nil {
		parts = append(parts, fmt.Sprintf("failure ratio p = %s: (1 - p^%d) / (1 - p)", number(r.FailureRatio), b.WorstAttempts))
	}
	if len(parts) == 0 {
		return "neither budget nor failure ratio: all of them"
	}
	if len(r.Layers) > 0 {
		parts = append(parts, "times the layers' attempts")
	}
	if observed := b.Traffic.AttemptsPerCall; observed != nil {
		parts = append(parts, fmt.Sprintf("divided by the %s attempts a call that are in the rate already", number(observed)))
	}
	return strings.Join(parts, "; ")
}

func permitSteps(b *plan.Bulkhead) []step {
	var steps []step
	if b.Demand != nil {
		steps = append(steps, step{"demand", short(b.Demand), fmt.Sprintf("%s/s x %s x %s: calls in flight if every call took the p99",
			short(b.Rate), short(b.Attempts), seconds(b.Traffic.P99))})
	}
	if b.Wanted == nil {
		return append(steps, step{"permits", unknown, b.Failure + "; " + b.Next})
	}
	steps = append(steps, step{"permits", integer(b.Wanted), wantedWhy(b)})
	if b.Low != nil && b.High != nil {
		steps = append(steps, step{"", fmt.Sprintf("%d to %d", *b.Low, *b.High), "with the p99 at the two bounds of its bucket"})
	}
	if b.ByLoss != nil {
		steps = append(steps, step{"", integer(b.ByLoss), fmt.Sprintf("by loss: the fewest that shed at most %s at peak", probability(&b.TargetShed))})
	}
	switch {
	case b.Permits == nil || *b.Permits == *b.Wanted:
	case b.Now == nil && b.Spec.Permits != nil:
		steps = append(steps, step{"given", integer(b.Permits), "is what the lines below are about"})
	default:
		steps = append(steps, step{"after cuts", integer(b.Permits), "so that the pool fits"})
	}
	if b.Now != nil {
		steps = append(steps, step{"now", integer(b.Now), "change " + change(b.Now, b.Permits)})
	}
	return steps
}

func wantedWhy(b *plan.Bulkhead) string {
	switch b.SizedBy {
	case plan.SizedByAuto:
		return "headroom auto: the fewest permits whose shed probability at peak meets the target"
	case plan.SizedByMean:
		return "by the mean, since there is no p99 that says anything: the fewest permits whose shed probability at peak meets the target"
	}
	why := fmt.Sprintf("ceil(%s x %s headroom)", short(b.Demand), number(b.Spec.Headroom.Factor))
	if product := new(big.Rat).Mul(b.Demand, b.Spec.Headroom.Factor); product.IsInt() {
		why += fmt.Sprintf(", exactly %s", number(product))
	}
	if b.Spec.HeadroomDefaulted {
		why += "; x2 is the default"
	}
	return why
}

func shedSteps(b *plan.Bulkhead) []step {
	if b.MeanInFlight == nil {
		return []step{{"in flight", unknown, "without a mean the load is unknown, and so is what is shed"}}
	}
	steps := []step{{"in flight", float(b.MeanInFlight), "mean at peak: rate x attempts x mean, the offered load in erlangs"}}
	if b.Measured != nil {
		if x := b.Measured.InFlight.Value; x > 0 {
			steps = append(steps, step{"", fmt.Sprintf("%.3g", x), fmt.Sprintf("measured on the busiest instance at %s, from the rate of the duration sum", at(b.Measured.InFlight.At))})
		}
	}
	if b.Shed == nil {
		return steps
	}
	law := fmt.Sprintf("Erlang B(%s, %d): Poisson arrivals, no waiting, any distribution of durations", float(b.MeanInFlight), *b.Permits)
	if b.Peakedness != nil {
		law = fmt.Sprintf("Hayward's B(a/z, c/z) with peakedness z = %s: an approximation", float(b.Peakedness))
	}
	steps = append(steps, step{"shed at peak", probability(b.Shed), law})
	if b.ShedWindow != nil {
		steps = append(steps, step{"", probability(b.ShedWindow), "over all healthy slots of the window, weighted by their traffic"})
	}
	if q := b.QueueShed; q != nil {
		steps = append(steps, step{"with queue", "about " + probability(&q.About), fmt.Sprintf("%s; between %s and %s, whatever the distribution", q.Law, probability(&q.Low), probability(&q.High))})
	}
	return steps
}

func stallSteps(b *plan.Bulkhead) []step {
	e := b.Stall
	if e == nil {
		return nil
	}
	steps := []step{{"in a stall", fmt.Sprintf("%.4g held", e.Hold), holdWhy(b)}}
	switch {
	case e.Fill != nil:
		steps = append(steps, step{"", nearSeconds(*e.Fill), "until all permits are held, from the mean in flight on; then the flood stops here"})
	case e.Fills && e.FillFromEmpty != nil:
		steps = append(steps, step{"", nearSeconds(*e.FillFromEmpty), "until all permits are held, starting from none"})
	case !e.Fills:
		steps = append(steps, step{"", "never", "fills up: the timeout frees permits faster than calls come in"})
	}
	if b.Blast != nil {
		steps = append(steps, step{"blast radius", percent(b.Blast), "of the pool is what this one dependency can take"})
	}
	if b.WorstWait != nil {
		steps = append(steps, step{"worst wait", seconds(b.WorstWait), waitWhy(b)})
	}
	return steps
}

func holdWhy(b *plan.Bulkhead) string {
	if !b.Stall.Bounded {
		return "no call timeout: every permit, each for as long as the transport lets it"
	}
	if b.Spec.Covers == "call" {
		return fmt.Sprintf("min(permits, %s/s x %s): a stalled call holds its permit for all its attempts and backoffs", short(b.Rate), nearSeconds(*b.Stall.PermitSeconds))
	}
	return fmt.Sprintf("min(permits, %s/s x %s attempts x %s timeout); every stalled attempt costs %s permit-seconds",
		short(b.Rate), short(b.StallAttempts), seconds(b.Spec.Timeout), number(b.Spec.Timeout))
}

func waitWhy(b *plan.Bulkhead) string {
	switch {
	case b.FitsDeadline == nil:
		return "all attempts, waits and backoffs of one call"
	case *b.FitsDeadline:
		return "all attempts, waits and backoffs of one call: within the deadline of " + seconds(b.Spec.Deadline)
	}
	return "all attempts, waits and backoffs of one call: beyond the deadline of " + seconds(b.Spec.Deadline)
}

// steps writes a derivation as three columns, the last one wrapped.
func (p *page) steps(all []step) {
	wide := [2]int{}
	for _, s := range all {
		wide[0], wide[1] = max(wide[0], lipgloss.Width(s.term)), max(wide[1], lipgloss.Width(s.value))
	}
	for _, s := range all {
		lead := fmt.Sprintf("  %s  %s ", pad(s.term, wide[0]), padLeft(diag.Plain(s.value), wide[1]))
		p.item(lead, s.why)
	}
}

func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-lipgloss.Width(s))) }

func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-lipgloss.Width(s))) + s
}

func quantile(q promquery.Quantile) string {
	if q.Clipped() {
		return "above " + approxSeconds(q.TopBound)
	}
	return approxSeconds(q.Value)
}
