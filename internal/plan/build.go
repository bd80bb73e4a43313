package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bhsize/bhsize/promquery"
	"github.com/bhsize/bhsize/schema"
	"github.com/bhsize/bhsize/sizing"
)

// Input is one file with the measurement made for it; nil: size from the
// traffic that the file itself states.
type Input struct {
	File        *schema.File
	Measurement *promquery.Measurement
}

// Build derives the plan. A bulkhead that cannot be sized carries the reason
// and does not keep the others from being sized; the error is for arithmetic
// that no input should reach.
func Build(inputs []Input) (*Plan, error) {
	p := &Plan{}
	for _, in := range inputs {
		s, err := buildService(in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.File.Name, err)
		}
		p.Services = append(p.Services, s)
	}
	var err error
	p.Backends, err = buildBackends(p.Services)
	return p, err
}

func buildService(in Input) (*Service, error) {
	s := &Service{Name: in.File.Service, File: in.File, Measurement: in.Measurement}
	for i := range in.File.Bulkheads {
		b := newBulkhead(in, &in.File.Bulkheads[i])
		b.size()
		s.Bulkheads = append(s.Bulkheads, b)
	}
	for i := range in.File.Pools {
		pool, err := buildPool(&in.File.Pools[i], s.Bulkheads)
		if err != nil {
			return nil, fmt.Errorf("pool %q: %w", in.File.Pools[i].Name, err)
		}
		s.Pools = append(s.Pools, pool)
	}
	s.Notes = notes(in)
	return s, nil
}

// newBulkhead finds the traffic: measured where there is a measurement, the
// file's own otherwise.
func newBulkhead(in Input, spec *schema.Bulkhead) *Bulkhead {
	b := &Bulkhead{Spec: spec, Now: spec.Permits, Confidence: ConfidenceNone,
		TargetShed: sizing.Float(in.File.Measure.TargetShed), processes: in.File.Processes}
	switch {
	case in.Measurement != nil:
		b.takeMeasured(in)
	case spec.Traffic != nil:
		b.Traffic = fromFile(in.File, spec.Traffic)
		b.Doubts = statedDoubts(spec.Traffic)
	default:
		b.fail("it has no traffic, and there is no Prometheus to ask", "set prometheus.url or --prometheus, or write its traffic")
	}
	if b.Traffic != nil {
		b.noteSeries()
	}
	return b
}

// statedDoubts applies the floors of evidence to what the file says of its
// traffic. What it does not say is a doubt of its own where a measurement would
// have been written by --write.
func statedDoubts(t *schema.Traffic) []promquery.Remark {
	calls, window := math.Inf(1), time.Duration(math.MaxInt64)
	if t.Calls != nil {
		calls = float64(*t.Calls)
	}
	if t.Window != nil {
		window = seconds(t.Window)
	}
	all := promquery.LittleData(calls, window)
	if t.Calls == nil && t.Window == nil {
		all = append(all, promquery.Remark{ID: RemarkUnmeasured, Text: "traffic says neither calls nor window: not known to be measured"})
	}
	if b := t.P99Bounds; b != nil {
		all = append(all, promquery.WideBucket(sizing.Float(b[0]), sizing.Float(b[1]))...)
	}
	if t.Rejected != nil && *t.Rejected > 0 {
		all = append(all, promquery.CensoredRate(float64(*t.Rejected)))
	}
	return all
}

// RemarkUnmeasured is the doubt about traffic whose origin the file does not state.
const RemarkUnmeasured = "unmeasured"

func (b *Bulkhead) takeMeasured(in Input) {
	b.Measured = in.Measurement.Dependencies[b.Spec.Name]
	verdict := in.Measurement.Judge(b.Measured)
	traffic, err := fromMeasurement(in.File, in.Measurement, b.Measured)
	if err != nil {
		b.fail(err.Error(), "look at the queries with --explain "+b.Spec.Name)
		return
	}
	b.Traffic, b.Doubts = traffic, verdict.Doubts
	if verdict.Failure != "" {
		b.fail(verdict.Failure, verdict.Next)
		b.Traffic = traffic.withoutQuantile()
	}
}

// notes are about the measurement as a whole.
func notes(in Input) []string {
	m := in.Measurement
	if m == nil {
		return []string{"nothing was measured: sized from the traffic in the file"}
	}
	all := slices.Clone(m.Warnings)
	if m.DataStart.After(m.Start) {
		all = append(all, fmt.Sprintf("the window starts at %s, the data only at %s: what is there is used",
			m.Start.Format(timeLayout), m.DataStart.Format(timeLayout)))
	}
	if m.Selector == "" {
		all = append(all, "no selector: the calls of every service on this server are counted; name yours with prometheus.selector")
	}
	if one := singleInstance(in); one {
		all = append(all, "only one instance was seen: if there are more, the instance labels are missing (prometheus.series.instance)")
	}
	if len(m.Unmatched) > 0 {
		all = append(all, fmt.Sprintf("%d measured dependencies have no bulkhead: %s", len(m.Unmatched), abridge(m.Unmatched, 5)))
	}
	return all
}

const timeLayout = "2006-01-02 15:04 MST"

// singleInstance: one instance at every moment, and the file does not say one.
func singleInstance(in Input) bool {
	if stated := in.File.Instances.Max; stated != nil && *stated == 1 {
		return false
	}
	most := 0
	for _, d := range in.Measurement.Dependencies {
		most = max(most, d.InstancesMax)
	}
	return most == 1
}

func abridge(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + ", ..."
}
