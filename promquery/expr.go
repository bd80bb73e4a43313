package promquery

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"
)

// Slot is the length of one unit of measurement; slots start at multiples of it.
const Slot = 15 * time.Minute

const slot = Slot

// keyLabel holds a bulkhead's key where one label alone does not name it.
const keyLabel = "bhsize"

// source is a Series whose every text has been parsed: from here on, PromQL is
// built as a syntax tree and printed by Prometheus's own printer, so that no
// label value can break out of its quotes.
type source struct {
	Series
	counter   selector
	buckets   selector
	sum       selector
	errors    []selector
	rejected  *selector // nil: this source does not know
	whole     *selector // counter of whole calls; nil: calls are counted, or it is unknown
	separate  bool      // rejected is a metric of its own
	seconds   float64   // one Unit in seconds
	key       keying
	instances []string
}

// selector is a metric name and its matchers.
type selector struct {
	name     string
	matchers []*labels.Matcher
}

func parseSelector(text string) (selector, error) {
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err == nil {
		if vs, ok := expr.(*parser.VectorSelector); ok && vs.OriginalOffset == 0 && vs.Timestamp == nil && vs.StartOrEnd == 0 {
			return selector{vs.Name, withoutName(vs.LabelMatchers)}, nil
		}
		err = fmt.Errorf("it is not a plain selector")
	}
	return selector{}, fmt.Errorf("%q does not parse as PromQL: %w", text, err)
}

// parseMatchers reads matchers without a metric name: `a="b",c=~"d.*"`, with
// or without the braces around them.
func parseMatchers(text string) ([]*labels.Matcher, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	braced, added := text, 0
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		braced, added = "{"+text+"}", 1
	}
	matchers, err := parser.NewParser(parser.Options{}).ParseMetricSelector(braced)
	parser.EnrichParseError(err, func(e *parser.ParseErr) { moveBack(e, added, text) })
	if err != nil {
		return nil, fmt.Errorf("%q does not parse as PromQL matchers: %w", text, err)
	}
	if len(withoutName(matchers)) != len(matchers) {
		return nil, fmt.Errorf("%q names a metric: only label matchers are allowed, such as job=\"checkout\"", text)
	}
	return matchers, nil
}

// moveBack makes the position of a parse error one in text, before which so many
// characters were added for the parser.
func moveBack(e *parser.ParseErr, added int, text string) {
	at := func(p posrange.Pos) posrange.Pos { return min(max(p-posrange.Pos(added), 0), posrange.Pos(len(text))) }
	e.PositionRange = posrange.PositionRange{Start: at(e.PositionRange.Start), End: at(e.PositionRange.End)}
	e.Query = text
}

func withoutName(matchers []*labels.Matcher) []*labels.Matcher {
	return slices.DeleteFunc(slices.Clone(matchers), func(m *labels.Matcher) bool { return m.Name == model.MetricNameLabel })
}

// unitSeconds are the units a duration series may have.
var unitSeconds = map[string]float64{"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}

// newSource parses all texts of s. userSelector is the caller's own selector.
func newSource(s Series, userSelector string, groups []Group) (*source, error) {
	if s.Histogram == "" {
		return nil, field("preset", fmt.Errorf("no histogram is named: choose a preset, or set prometheus.series.histogram"))
	}
	seconds, ok := unitSeconds[s.Unit]
	if !ok {
		return nil, field("series.unit", fmt.Errorf("unit %q is not known: use ns, us, ms or s", s.Unit))
	}
	user, err := parseMatchers(userSelector)
	if err != nil {
		return nil, field("selector", err)
	}
	fixed, err := parseMatchers(s.Fixed)
	if err != nil {
		return nil, field("series.matchers", err)
	}
	src := &source{Series: s, seconds: seconds, instances: s.Instance}
	if src.key, err = newKeying(s.Dependency, groups); err != nil {
		return nil, field("series.dependency", err)
	}
	return src, src.resolve(append(fixed, user...), user)
}

// resolve builds the selectors. common holds for the counter and the histogram;
// a metric of its own (another exporter's error counter) only has the user's.
func (s *source) resolve(common, user []*labels.Matcher) error {
	counter := s.CounterName()
	served := common
	if s.Rejected != "" {
		sel, inverse, err := s.resolveRejected(counter, common, user)
		if err != nil {
			return field("series.rejected", err)
		}
		s.rejected = &sel
		if inverse != nil {
			served = append(slices.Clone(common), inverse)
		}
	}
	s.counter = selector{counter, served}
	s.buckets = selector{s.Histogram + "_bucket", served}
	s.sum = selector{s.Histogram + "_sum", served}
	for _, text := range s.Errors {
		sel, err := s.resolveOther(text, counter, served, user)
		if err != nil {
			return field("series.errors", err)
		}
		s.errors = append(s.errors, sel)
	}
	return field("series.calls", s.resolveWhole(counter, served, user))
}

// resolveWhole parses the selector of whole calls, which only a series of
// attempts has a use for.
func (s *source) resolveWhole(counter string, served, user []*labels.Matcher) error {
	if s.Calls == "" {
		return nil
	}
	sel, err := s.resolveOther(s.Calls, counter, served, user)
	if s.Level == LevelAttempt {
		s.whole = &sel
	}
	return err
}

// resolveRejected returns the selector of rejections and, where they are part
// of the counter, the matcher that keeps them out of it.
func (s *source) resolveRejected(counter string, common, user []*labels.Matcher) (selector, *labels.Matcher, error) {
	if metricStart.MatchString(s.Rejected) {
		sel, err := parseSelector(s.Rejected)
		s.separate = true
		sel.matchers = append(sel.matchers, user...)
		return sel, nil, err
	}
	matchers, err := parseMatchers(s.Rejected)
	if err != nil {
		return selector{}, nil, err
	}
	if len(matchers) != 1 {
		return selector{}, nil, fmt.Errorf("rejected %q must be one matcher, so that it can be inverted", s.Rejected)
	}
	inverse, err := matchers[0].Inverse()
	return selector{counter, append(slices.Clone(common), matchers[0])}, inverse, err
}

func (s *source) resolveOther(text, counter string, served, user []*labels.Matcher) (selector, error) {
	if metricStart.MatchString(text) {
		sel, err := parseSelector(text)
		sel.matchers = append(sel.matchers, user...)
		return sel, err
	}
	matchers, err := parseMatchers(text)
	return selector{counter, append(slices.Clone(served), matchers...)}, err
}

// metricStart tells `metric{...}` or a bare metric from `label="value"`.
var metricStart = regexp.MustCompile(`(?s)^\s*[a-zA-Z_:][a-zA-Z0-9_:]*\s*(\{.*)?$`)

// The expressions. D is the dependency key, I the instance labels, W the rate
// window; PROMETHEUS family semantics decide the order: rate first, so that
// counter resets are handled per series, then sum, then max.

// peakInstance: max by (D) (sum by (D,I) (rate(C[W]))).
func (s *source) peakInstance(w time.Duration) string {
	return s.maxOfInstances(s.rate(s.counter, w)).String()
}

// peakFleet: sum by (D) (rate(C[W])).
func (s *source) peakFleet(w time.Duration) string {
	return s.sumBy(s.rate(s.counter, w)).String()
}

// activeInstances: count by (D) (sum by (D,I) (rate(C[W])) > 0). From the rate
// and not from presence: the lookback would show dead instances for 5 minutes.
func (s *source) activeInstances(w time.Duration) string {
	perInstance := s.sumBy(s.rate(s.counter, w), s.instances...)
	busy := &parser.BinaryExpr{Op: parser.GTR, LHS: perInstance, RHS: &parser.NumberLiteral{Val: 0}}
	return aggregate(parser.COUNT, busy, s.key.labels()...).String()
}

// inFlight: max by (D) (sum by (D,I) (rate(SUM[W]))), in units of the
// histogram: the mean number of calls in flight of the busiest instance.
func (s *source) inFlight(w time.Duration) string {
	return s.maxOfInstances(s.rate(s.sum, w)).String()
}

// slotCalls: sum by (D) (increase(C[15m])).
func (s *source) slotCalls() string { return s.sumBy(increase(s.counter)).String() }

// slotErrors: the same over failed calls. Alternatives of one metric are united,
// not added, so that a call that is an error twice counts once; 'or' compares
// labels without the metric's name, so another metric's are told apart first.
func (s *source) slotErrors() string {
	union := increase(s.errors[0])
	for _, sel := range s.errors[1:] {
		alternative := increase(sel)
		if sel.name != s.errors[0].name {
			alternative = call("label_replace", alternative, text(errorLabel), text(literal(sel.name)), text(errorLabel), text(""))
		}
		union = &parser.BinaryExpr{Op: parser.LOR, LHS: union, RHS: alternative,
			VectorMatching: &parser.VectorMatching{Card: parser.CardManyToMany}}
	}
	return s.sumBy(union).String()
}

// errorLabel holds the name of a metric of errors beside the first one's.
const errorLabel = "bhsize_errors"

// slotRejected: sum by (D) (increase(REJ[15m])).
func (s *source) slotRejected() string { return s.sumBy(increase(*s.rejected)).String() }

// slotWhole: sum by (D) (increase(CALLS[15m])).
func (s *source) slotWhole() string { return s.sumBy(increase(*s.whole)).String() }

// slotSum: sum by (D) (increase(SUM[15m])).
func (s *source) slotSum() string { return s.sumBy(increase(s.sum)).String() }

// slotBuckets: sum by (D,le) (increase(B[15m])).
func (s *source) slotBuckets() string { return s.sumBy(increase(s.buckets), "le").String() }

// slotSamples: max by (D) (count_over_time(C[15m])): how much of a slot was scraped.
func (s *source) slotSamples() string {
	return aggregate(parser.MAX, s.key.wrap(call("count_over_time", over(s.counter, slot))), s.key.labels()...).String()
}

// scrapes: quantile(0.5, count_over_time(C[1h])): the median series' samples in
// an hour, or in another range.
func (s *source) scrapes(in time.Duration) string {
	median := aggregate(parser.QUANTILE, call("count_over_time", over(s.counter, in)))
	median.Param = &parser.NumberLiteral{Val: 0.5}
	return median.String()
}

func (s *source) rate(sel selector, w time.Duration) parser.Expr { return call("rate", over(sel, w)) }

func increase(sel selector) parser.Expr { return call("increase", over(sel, slot)) }

func (s *source) sumBy(e parser.Expr, extra ...string) *parser.AggregateExpr {
	return aggregate(parser.SUM, s.key.wrap(e), append(s.key.labels(), extra...)...)
}

func (s *source) maxOfInstances(e parser.Expr) parser.Expr {
	return aggregate(parser.MAX, s.sumBy(e, s.instances...), s.key.labels()...)
}

func over(sel selector, d time.Duration) parser.Expr {
	return &parser.MatrixSelector{VectorSelector: sel.vector(), Range: d}
}

// vector leaves a name that must be quoted to its matcher: the printer writes
// Name as it is.
func (s selector) vector() *parser.VectorSelector {
	name := labels.MustNewMatcher(labels.MatchEqual, model.MetricNameLabel, s.name)
	vs := &parser.VectorSelector{LabelMatchers: append(slices.Clone(s.matchers), name)}
	if model.LegacyValidation.IsValidMetricName(s.name) {
		vs.Name = s.name
	}
	return vs
}

// String is the selector as PromQL.
func (s selector) String() string { return s.vector().String() }

func call(name string, args ...parser.Expr) parser.Expr {
	return &parser.Call{Func: parser.Functions[name], Args: args}
}

func aggregate(op parser.ItemType, e parser.Expr, by ...string) *parser.AggregateExpr {
	return &parser.AggregateExpr{Op: op, Expr: e, Grouping: by}
}
