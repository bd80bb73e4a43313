package main

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/bhsize/bhsize/internal/plan"
	"github.com/bhsize/bhsize/internal/report"
	"github.com/bhsize/bhsize/promquery"
	"github.com/bhsize/bhsize/schema"
	"github.com/bhsize/bhsize/sizing"
)

// sizeFlags are the flags of size, as text: numbers are read exactly.
type sizeFlags struct {
	rps, p99, mean, headroom, targetShed           string
	maxAttempts                                    int
	budget, failureRatio                           string
	timeout, queueTimeout                          string
	permits, pool, reserved, instances             int
	peakedness                                     string
	output                                         string
	hasPermits, hasPool, hasReserved, hasInstances bool
}

func newSize(e *env) *cobra.Command {
	f := &sizeFlags{}
	cmd := &cobra.Command{
		Use: "size", Short: "work out the permits for one dependency, from numbers on the command line", Args: cobra.NoArgs,
		Long: `size is the calculator: permits = rate x attempts x p99 x headroom, the
probability that a call is shed, and what a stall does. It needs no file and no
server. Rates are per instance.`,
		Example: `  bhsize size --rps 300 --p99 50ms --headroom 2 --mean 20ms
  bhsize size --rps 20 --mean 250ms --permits 10
  bhsize size --rps 300 --p99 50ms --max-attempts 3 --budget 20% --timeout 400ms --pool 100 --reserved 10 -o json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			given := cmd.Flags().Changed
			f.hasPermits, f.hasPool, f.hasReserved, f.hasInstances = given("permits"), given("pool"), given("reserved"), given("instances")
			return e.size(f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.rps, "rps", "", "peak calls a second, per instance (required)")
	flags.StringVar(&f.p99, "p99", "", "healthy 99th percentile of the duration, such as 50ms")
	flags.StringVar(&f.mean, "mean", "", "mean duration, such as 20ms; without it nothing is said about shedding")
	flags.StringVar(&f.headroom, "headroom", "2", "a factor (2), a margin (33%), or auto (by --target-shed)")
	flags.StringVar(&f.targetShed, "target-shed", "0.01%", "shed probability that auto aims at")
	flags.IntVar(&f.maxAttempts, "max-attempts", 1, "attempts a call at most, the first included ('3 retries' is 4)")
	flags.StringVar(&f.budget, "budget", "", "retry budget: retries as a share of calls, such as 20%")
	flags.StringVar(&f.failureRatio, "failure-ratio", "", "share of attempts that fail, such as 5%; where there is no budget")
	flags.StringVar(&f.timeout, "timeout", "", "timeout of one attempt, such as 400ms")
	flags.StringVar(&f.queueTimeout, "queue-timeout", "", "how long a call may wait for a permit (default: it is rejected at once)")
	flags.IntVar(&f.permits, "permits", 0, "evaluate this number instead")
	flags.IntVar(&f.pool, "pool", 0, "size of the pool that the permits come from")
	flags.IntVar(&f.reserved, "reserved", 0, "part of the pool kept for operations")
	flags.IntVar(&f.instances, "instances", 0, "instances of the service, for the total")
	flags.StringVar(&f.peakedness, "peakedness", "", "peakedness z of the arrivals, where it was measured (Hayward)")
	flags.StringVarP(&f.output, "output", "o", "table", "table, json or markdown")
	return cmd
}

func (e *env) size(f *sizeFlags) error {
	in, err := f.input()
	if err != nil {
		return err
	}
	s, err := plan.BuildSingle(in)
	if err != nil {
		return err
	}
	if s.Permits == nil {
		return fmt.Errorf("%s: %s", s.Failure, s.Next)
	}
	if err := e.printSize(f.output, s); err != nil {
		return err
	}
	if fits, err := s.Fits(); err != nil || (fits != nil && !*fits) {
		return &exit{code: exitFindings, err: err}
	}
	return nil
}

func (e *env) printSize(output string, s *plan.Single) error {
	switch output {
	case "json":
		return report.SizeJSON(e.out, s)
	case "markdown":
		return report.SizeMarkdown(e.out, s)
	case "table":
		return report.Size(e.out, s, e.width)
	}
	return fmt.Errorf("--output %q is not known: use table, json or markdown", output)
}

// input reads the flags. The first one that is wrong is the error.
func (f *sizeFlags) input() (plan.SingleInput, error) {
	r := &flagReader{}
	traffic := &schema.Traffic{PeakRPS: r.positive("rps", f.rps, sizing.ParseNumber), P99: r.positive("p99", f.p99, sizing.ParseDuration),
		Mean: r.positive("mean", f.mean, sizing.ParseDuration), Level: string(promquery.LevelCall)}
	spec := schema.Bulkhead{Name: "this bulkhead", Covers: "attempt", Traffic: traffic, Headroom: r.headroom(f.headroom),
		Timeout: r.positive("timeout", f.timeout, sizing.ParseDuration)}
	spec.Retries = &schema.Retries{Retries: sizing.Retries{MaxAttempts: r.atLeast("max-attempts", f.maxAttempts, 1),
		BudgetRatio: r.read("budget", f.budget, sizing.ParseRatio), FailureRatio: r.read("failure-ratio", f.failureRatio, sizing.ParseRatio)}}
	if wait := r.positive("queue-timeout", f.queueTimeout, sizing.ParseDuration); wait != nil {
		spec.Queue = &schema.Queue{Timeout: wait}
	}
	if f.hasPermits {
		n := r.atLeast("permits", f.permits, 1)
		spec.Permits = &n
	}
	in := plan.SingleInput{Spec: spec, Pool: r.pool(f), Instances: r.instances(f),
		TargetShed: r.positive("target-shed", f.targetShed, sizing.ParseRatio), Peakedness: r.peakedness(f.peakedness)}
	if r.err == nil && traffic.PeakRPS == nil {
		r.err = errors.New("--rps is missing: give the peak calls a second of one instance, such as --rps 300")
	}
	if r.err == nil && traffic.P99 == nil && traffic.Mean == nil && !f.hasPermits {
		r.err = errors.New("neither --p99 nor --mean is given: a rate alone has no size; add --p99 50ms, or --permits to evaluate a number")
	}
	r.contradictions(f, traffic)
	return in, r.err
}

// contradictions refuses what cannot be meant.
func (r *flagReader) contradictions(f *sizeFlags, t *schema.Traffic) {
	if t.P99 != nil && t.Mean != nil && t.Mean.Cmp(t.P99) > 0 {
		r.fail("mean", "%q is above the p99 of %q: are they the right way round?", f.mean, f.p99)
	}
	if f.headroom == "auto" && t.Mean == nil {
		r.fail("headroom", "auto sizes by the mean: add --mean, or give a factor")
	}
	if f.maxAttempts == 1 && (f.budget != "" || f.failureRatio != "") {
		r.fail("max-attempts", "it is 1, and so there are no retries for --budget or --failure-ratio: raise it, or leave them out")
	}
}

// flagReader keeps the first error, so that reading stays a list.
type flagReader struct{ err error }

func (r *flagReader) fail(name, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("--%s: %s", name, fmt.Sprintf(format, args...))
	}
}

// read returns nil for a flag that was not given.
func (r *flagReader) read(name, text string, parse func(string) (*big.Rat, error)) *big.Rat {
	if text == "" {
		return nil
	}
	value, err := parse(text)
	if err != nil {
		r.fail(name, "%v", err)
		return nil
	}
	return value
}

func (r *flagReader) positive(name, text string, parse func(string) (*big.Rat, error)) *big.Rat {
	value := r.read(name, text, parse)
	if value != nil && value.Sign() <= 0 {
		r.fail(name, "%q must be above 0", text)
	}
	return value
}

func (r *flagReader) atLeast(name string, n, least int) int {
	if n < least {
		r.fail(name, "%d must be at least %d", n, least)
	}
	if n > sizing.MaxPermits {
		r.fail(name, "%d must be at most %d", n, sizing.MaxPermits)
	}
	return n
}

// instances is 0 where the flag was not given.
func (r *flagReader) instances(f *sizeFlags) int {
	if !f.hasInstances {
		return 0
	}
	return r.atLeast("instances", f.instances, 1)
}

func (r *flagReader) headroom(text string) sizing.Headroom {
	h, err := sizing.ParseHeadroom(text)
	if err != nil {
		r.fail("headroom", "%v", err)
	}
	return h
}

func (r *flagReader) peakedness(text string) *float64 {
	if text == "" {
		return nil
	}
	z, err := strconv.ParseFloat(text, 64)
	if err != nil || !(z > 0) || z > 1e6 {
		r.fail("peakedness", "%q must be a number above 0, such as 1.5; 1 is Poisson", text)
	}
	return &z
}

func (r *flagReader) pool(f *sizeFlags) *schema.Pool {
	if !f.hasPool {
		if f.hasReserved {
			r.fail("reserved", "it is part of a pool, and --pool is missing")
		}
		return nil
	}
	p := &schema.Pool{Name: "pool", Size: r.atLeast("pool", f.pool, 1), Reserved: r.atLeast("reserved", f.reserved, 0)}
	if p.Reserved >= p.Size {
		r.fail("reserved", "%d leaves nothing of a pool of %d", p.Reserved, p.Size)
	}
	return p
}
