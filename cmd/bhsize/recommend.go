package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bhsize/bhsize/internal/diag"
	"github.com/bhsize/bhsize/internal/plan"
	"github.com/bhsize/bhsize/internal/report"
	"github.com/bhsize/bhsize/promquery"
	"github.com/bhsize/bhsize/schema"
)

// recommendFlags are the flags of recommend, as given.
type recommendFlags struct {
	files      []string
	prometheus string
	window     string
	start, end string
	now        string
	timeout    time.Duration
	explain    string
	write      bool
	partial    bool
	diff       bool
	strict     bool
	output     string

	unreached []error // files that could not be measured
}

func newRecommend(e *env) *cobra.Command {
	f := &recommendFlags{}
	cmd := &cobra.Command{
		Use: "recommend", Short: "measure every dependency and recommend permits that fit the pool", Args: noPaths,
		Long: `recommend asks Prometheus for the peak rate and the healthy p99 of every
dependency in the file, computes the permits, and shows them beside the present
ones, with the budget of every pool. Nothing is changed without --write.

Exit codes: 0 all fits; 1 the recommendation does not fit its pool uncut (or,
with --strict, is of low confidence); 2 usage or an invalid file; 3 Prometheus
is unreachable, or some bulkhead could not be sized (the others are printed).`,
		Example: `  bhsize recommend -f bulkhead.yaml --prometheus http://localhost:9090
  bhsize recommend -f examples/checkout/bulkhead.yaml --explain payments
  bhsize recommend -f bulkhead.yaml --diff
  bhsize recommend -f 'services/**/bulkhead.yaml' -o json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.recommend(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.files, "file", "f", nil, "bulkhead file or glob, may be repeated (default bulkhead.yaml)")
	flags.StringVar(&f.prometheus, "prometheus", "", "URL of a server, an OpenMetrics file, or a folder of TSDB blocks; over prometheus.url")
	flags.StringVar(&f.window, "window", "", "how far back to measure, such as 14d; over prometheus.window")
	flags.StringVar(&f.start, "start", "", "start of the window, RFC 3339 or a date; over --window")
	flags.StringVar(&f.end, "end", "", "end of the window, RFC 3339 or a date, which is its start (default: now; for a file, its last sample)")
	flags.StringVar(&f.now, "now", "", "take this as the present time, RFC 3339")
	flags.DurationVar(&f.timeout, "timeout", 2*time.Minute, "patience with one query")
	flags.StringVar(&f.explain, "explain", "", "show how the number of one bulkhead comes about, and the queries")
	flags.BoolVar(&f.write, "write", false, "write permits and traffic into the file, touching no other byte")
	flags.BoolVar(&f.partial, "partial", false, "with --write: write what could be sized although something could not")
	flags.BoolVar(&f.diff, "diff", false, "show what --write would change, as a unified diff")
	flags.BoolVar(&f.strict, "strict", false, "fail when a number is of low confidence")
	flags.StringVarP(&f.output, "output", "o", "table", "table, json or markdown")
	return cmd
}

func (e *env) recommend(ctx context.Context, f *recommendFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	files, err := e.load(f.files)
	if err != nil {
		return err
	}
	p, err := e.buildPlan(ctx, f, files)
	if err != nil {
		return err
	}
	if err := e.printPlan(f, p); err != nil {
		return err
	}
	if f.write {
		if err := e.writePlan(f, p); err != nil {
			return err
		}
	}
	return f.verdict(p)
}

func (f *recommendFlags) check() error {
	if f.explain != "" && f.diff || (f.explain != "" || f.diff) && f.output != "table" {
		return errors.New("--explain, --diff and --output each say what is printed: choose one of them")
	}
	if !slices.Contains([]string{"table", "json", "markdown"}, f.output) {
		return fmt.Errorf("--output %q is not known: use table, json or markdown", f.output)
	}
	if f.partial && !f.write {
		return errors.New("--partial says what --write does, and --write is not there: add it, or leave --partial out")
	}
	if _, err := parseWindow(f.window); f.window != "" && err != nil {
		return err
	}
	for _, flag := range [][2]string{{"--start", f.start}, {"--end", f.end}, {"--now", f.now}} {
		if _, err := parseTime(flag[0], flag[1]); flag[1] != "" && err != nil {
			return err
		}
	}
	return nil
}

// buildPlan measures for every file that names a place to ask.
func (e *env) buildPlan(ctx context.Context, f *recommendFlags, files []*schema.File) (*plan.Plan, error) {
	if err := f.checkExplain(files); err != nil {
		return nil, err
	}
	q := newQueriers(f.timeout)
	defer q.closeAll()
	var inputs []plan.Input
	for _, file := range files {
		m, err := e.measure(ctx, f, q, file)
		switch {
		case ctx.Err() != nil || err != nil && len(files) == 1:
			return nil, err
		case err != nil: // one file that cannot be measured must not hide the others
			f.unreached = append(f.unreached, fmt.Errorf("%s: %w", file.Name, err))
			continue
		}
		inputs = append(inputs, plan.Input{File: file, Measurement: m})
	}
	if len(inputs) == 0 {
		return nil, f.notReached()
	}
	return plan.Build(inputs)
}

// notReached is the error for the files that could not be measured, nil without any.
func (f *recommendFlags) notReached() error {
	if len(f.unreached) == 0 {
		return nil
	}
	code, next := exitUnsized, ""
	var said []string
	for _, err := range f.unreached {
		said = append(said, err.Error())
		var known *exit
		if errors.As(err, &known) {
			code, next = max(code, known.code), known.next
		}
	}
	return &exit{code: code, err: errors.New(strings.Join(said, "; ")), next: next}
}

func (f *recommendFlags) checkExplain(files []*schema.File) error {
	if f.explain == "" {
		return nil
	}
	var names []string
	for _, file := range files {
		for _, b := range file.Bulkheads {
			if b.Name == f.explain {
				return nil
			}
			names = append(names, b.Name)
		}
	}
	return fmt.Errorf("--explain %q names no bulkhead: there are %s", f.explain, strings.Join(names, ", "))
}

// measure asks for one file; nil where there is nowhere to ask.
func (e *env) measure(ctx context.Context, f *recommendFlags, q *queriers, file *schema.File) (*promquery.Measurement, error) {
	where := address(f.prometheus, file)
	if where == "" {
		return nil, nil
	}
	querier, err := q.get(ctx, where)
	if err != nil {
		return nil, err
	}
	start, end, err := f.times(querier)
	if err != nil {
		return nil, err
	}
	request, err := plan.Request(file, start, end)
	if err != nil {
		return nil, e.inField(file, err)
	}
	step, clear := e.progress("asking Prometheus")
	request.Progress = step
	m, err := promquery.Measure(ctx, querier, request)
	clear()
	if err != nil {
		return nil, e.inField(file, unsized(err))
	}
	return m, nil
}

// unsized gives the failure of a query its exit code and its next step.
func unsized(err error) error {
	var failed *promquery.Error
	if !errors.As(err, &failed) {
		return err
	}
	return &exit{code: exitUnsized, err: err, next: failed.Next}
}

// inField shows an error of a request at its place in the file.
func (e *env) inField(file *schema.File, err error) error {
	var in *promquery.FieldError
	if !errors.As(err, &in) {
		return err
	}
	at := file.Pos(in.Path...)
	finding := diag.Finding{Rule: "measure/request", Severity: diag.Error, Message: in.Error(),
		Position: diag.Position{File: at.File, Line: at.Line, Column: at.Column}}
	source := func(string) []byte { return file.Source }
	if err := diag.Text(e.err, []diag.Finding{finding}, source); err != nil {
		return err
	}
	return &exit{code: exitUsage}
}

// printPlan shows what was asked for.
func (e *env) printPlan(f *recommendFlags, p *plan.Plan) error {
	switch {
	case f.explain != "":
		return e.explain(f.explain, p)
	case f.diff:
		return e.diffPlan(p)
	case f.output == "json":
		return report.JSON(e.out, p)
	case f.output == "markdown":
		return report.Markdown(e.out, p)
	}
	return report.Terminal(e.out, p, e.width)
}

// explain shows every bulkhead of that name: several files may have one.
func (e *env) explain(name string, p *plan.Plan) error {
	var err error
	p.Each(func(s *plan.Service, b *plan.Bulkhead) {
		if b.Spec.Name == name && err == nil {
			err = report.Explain(e.out, s, b, e.width)
		}
	})
	return err
}

// verdict is the exit code of a plan that was printed; 3 beats 1.
func (f *recommendFlags) verdict(p *plan.Plan) error {
	if err := f.notReached(); err != nil {
		return err
	}
	failed := p.Names(func(b *plan.Bulkhead) bool { return b.Failure != "" })
	low := p.Names(func(b *plan.Bulkhead) bool { return b.Confidence == plan.ConfidenceLow })
	switch {
	case len(failed) > 0:
		return &exit{code: exitUnsized, err: fmt.Errorf("could not be sized: %s", strings.Join(failed, ", "))}
	case !p.Fits():
		return &exit{code: exitFindings}
	case f.strict && len(low) > 0:
		return &exit{code: exitFindings, err: fmt.Errorf("--strict: of low confidence: %s", strings.Join(low, ", "))}
	}
	return nil
}
