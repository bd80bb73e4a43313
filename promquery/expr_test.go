package promquery

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

var update = flag.Bool("update", false, "write the golden files again")

// expressions are all that a source can send, by purpose.
func expressions(s *source) []Query {
	m := &measuring{src: s, out: &Measurement{RateWindow: 2 * time.Minute, Step: 30 * time.Second}}
	m.record("scrape interval", s.scrapes(time.Hour), time.Hour)
	for _, q := range m.slotQueries() {
		m.record(q.purpose, q.expr, slot)
	}
	for _, q := range m.peakQueries() {
		m.record(q.purpose, q.expr, m.out.Step)
	}
	return m.out.Queries
}

func source1(t *testing.T, s Series, selector string, groups ...Group) *source {
	t.Helper()
	src, err := newSource(s, selector, groups)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func istioSeries(t testing.TB) Series {
	t.Helper()
	p, err := LookupPreset("istio")
	if err != nil {
		t.Fatal(err)
	}
	return p.Series
}

// golden compares with testdata/expr/name; -update writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "expr", name+".promql")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s differs; go test ./promquery -run %s -update writes it again (-want +got)\n%s", path, t.Name(), d)
	}
}

func render(t *testing.T, s *source) string {
	var b strings.Builder
	for _, q := range expressions(s) {
		if _, err := parser.NewParser(parser.Options{}).ParseExpr(q.Expr); err != nil {
			t.Errorf("%s does not parse: %v", q.Expr, err)
		}
		fmt.Fprintf(&b, "# %s, step %s\n%s\n\n", q.Purpose, q.Step, q.Expr)
	}
	return b.String()
}

func TestExpressionsOfPresets(t *testing.T) {
	for _, p := range Presets() {
		t.Run(p.Name, func(t *testing.T) {
			golden(t, p.Name, render(t, source1(t, p.Series, `job="checkout"`, Group{Name: "payments"})))
		})
	}
}

// What the presets do not show.
func TestExpressionsByHand(t *testing.T) {
	byHand := Series{Histogram: "h_seconds", Unit: "s", Dependency: []string{"peer"}, Instance: []string{"pod"}}
	for _, c := range []struct {
		why    string
		series Series
		groups []Group
	}{
		{"several-values", byHand, []Group{{Name: "both", Match: map[string][]string{"peer": {"a.b", "c$1"}}}, {Name: "one"}}},
		{"several-labels", byHand, []Group{{Name: "x", Match: map[string][]string{"peer": {"a"}, "port": {"1", "2"}}}, {Name: "y", Match: map[string][]string{"port": {"3"}}}}},
		{"errors-of-two-metrics", byHand.With(Series{Errors: []string{`code=~"5.."`, `timeouts_total{kind="read"}`, `code="0"`}}), nil},
		{"rejections-of-their-own", byHand.With(Series{Counter: "calls_total", Fixed: `side="client"`, Rejected: `refused_total`}), nil},
		{"attempts-and-calls", byHand.With(Series{Calls: `calls_total{kind="whole"}`, Level: LevelAttempt}), []Group{{Name: "x", Match: map[string][]string{"peer": {"a", "b"}}}}},
		{"first-attempts", byHand.With(Series{Calls: `resend="0"`, Fixed: `side="client"`, Level: LevelAttempt}), nil},
		{"names-that-need-quotes", byHand.With(Series{Histogram: "http.client.duration", Dependency: []string{"server.address"}, Errors: []string{`"error.type"!=""`}}), nil},
	} {
		t.Run(c.why, func(t *testing.T) { golden(t, c.why, render(t, source1(t, c.series, "", c.groups...))) })
	}
}

// hostile are texts that would change a query, were they pasted into it.
var hostile = []string{
	`"`, `'`, "`", `\`, `\"`, "\n", "\x00", `"}) or vector(1) #`, `} or vector(1)`, `$1`, `${0}`, `$$`, `.*`, `(?i)a|b`, `[`, `)`, "käse", "名前", "\u2028", ";", "a;b", "",
}

func TestHostileLabelValuesStayValues(t *testing.T) {
	for _, v := range hostile {
		one := source1(t, istioSeries(t), "", Group{Name: v})
		two := source1(t, istioSeries(t), "a="+quote(v), Group{Name: "g", Match: map[string][]string{"b": {v, "other"}, "c": {v}}})
		for _, src := range []*source{one, two} {
			for _, q := range expressions(src) {
				intact(t, q.Expr, src)
			}
		}
		if !slices.ContainsFunc(selectors(t, two.peakFleet(time.Minute))[0].LabelMatchers, func(m *labels.Matcher) bool { return m.Name == "a" && m.Value == v }) {
			t.Errorf("the selector's value %q is not in %s", v, two.peakFleet(time.Minute))
		}
	}
}

func quote(v string) string {
	return labels.MustNewMatcher(labels.MatchEqual, "a", v).String()[len("a="):]
}

func TestHostileMetricNamesStayNames(t *testing.T) {
	for _, v := range hostile {
		if v == "" {
			continue // means 'not set'
		}
		src := source1(t, istioSeries(t).With(Series{Counter: v, Histogram: "h" + v}), "")
		for _, q := range expressions(src) {
			intact(t, q.Expr, src)
		}
	}
}

// intact wants an expression that parses, and in which every selector carries
// the fixed matchers of the preset.
func intact(t *testing.T, expr string, src *source) {
	t.Helper()
	fixed, err := parseMatchers(src.Fixed)
	if err != nil {
		t.Fatal(err)
	}
	for _, vs := range selectors(t, expr) {
		for _, f := range fixed {
			if !slices.ContainsFunc(vs.LabelMatchers, func(m *labels.Matcher) bool { return m.String() == f.String() }) {
				t.Errorf("%s lost %s in %s", vs, f, expr)
			}
		}
	}
}

func selectors(t *testing.T, expr string) []*parser.VectorSelector {
	t.Helper()
	e, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		t.Fatalf("%s does not parse: %v", expr, err)
	}
	var all []*parser.VectorSelector
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if vs, ok := n.(*parser.VectorSelector); ok {
			all = append(all, vs)
		}
		return nil
	})
	if len(all) == 0 {
		t.Errorf("%s selects nothing", expr)
	}
	return all
}

func TestRefusedSeries(t *testing.T) {
	istio := istioSeries(t)
	match := func(label string, values ...string) []Group {
		return []Group{{Name: "g", Match: map[string][]string{label: values}}}
	}
	for _, c := range []struct {
		why      string
		series   Series
		selector string
		groups   []Group
		field    string
		want     string
	}{
		{"no histogram", Series{Unit: "s"}, "", nil, "prometheus.preset", "no histogram"},
		{"no such unit", istio.With(Series{Unit: "min"}), "", nil, "prometheus.series.unit", `"min"`},
		{"selector without quotes", istio, `job=checkout`, nil, "prometheus.selector", "job=checkout"},
		{"selector that is not closed", istio, `{job="x"`, nil, "prometheus.selector", "parse"},
		{"selector that closes early", istio, `job="x"} or vector(1`, nil, "prometheus.selector", "parse"},
		{"selector with a bad regexp", istio, `job=~"("`, nil, "prometheus.selector", "parse"},
		{"selector that is a metric", istio, `up{job="x"}`, nil, "prometheus.selector", "parse"},
		{"selector that names a metric", istio, `__name__="up"`, nil, "prometheus.selector", "names a metric"},
		{"selector that names a quoted metric", istio, `{"up"}`, nil, "prometheus.selector", "names a metric"},
		{"fixed matchers", istio.With(Series{Fixed: `reporter`}), "", nil, "prometheus.series.matchers", "reporter"},
		{"errors that are no matchers", istio.With(Series{Errors: []string{`code>500`}}), "", nil, "prometheus.series.errors", "code>500"},
		{"errors that are an expression", istio.With(Series{Errors: []string{`errors_total{} + 1`}}), "", nil, "prometheus.series.errors", "parse"},
		{"errors of another time", istio.With(Series{Errors: []string{`errors_total{a="b"} offset 1h`}}), "", nil, "prometheus.series.errors", "plain selector"},
		{"errors at a fixed time", istio.With(Series{Errors: []string{`errors_total{a="b"} @ 0`}}), "", nil, "prometheus.series.errors", "plain selector"},
		{"rejections of two matchers have no inverse", istio.With(Series{Rejected: `a="b",c="d"`}), "", nil, "prometheus.series.rejected", "one matcher"},
		{"rejections of none", istio.With(Series{Rejected: `{}`}), "", nil, "prometheus.series.rejected", "one matcher"},
		{"rejections that do not parse", istio.With(Series{Rejected: `a=`}), "", nil, "prometheus.series.rejected", "parse"},
		{"rejections that are an expression", istio.With(Series{Rejected: `a{} or b{}`}), "", nil, "prometheus.series.rejected", "plain selector"},
		{"whole calls that do not parse", istio.With(Series{Calls: `a=`}), "", nil, "prometheus.series.calls", "parse"},
		{"whole calls that are an expression", istio.With(Series{Calls: `a{} + b{}`, Level: LevelAttempt}), "", nil, "prometheus.series.calls", "parse"},
		{"no dependency label", Series{Histogram: "h", Unit: "s"}, "", nil, "prometheus.series.dependency", "set prometheus.series.dependency"},
		{"a dependency label that is none", istio.With(Series{Dependency: []string{""}}), "", nil, "prometheus.series.dependency", "no label name"},
		{"the metric's name is no label", istio, "", match("__name__", "up"), "bulkheads.g.match", "no label name"},
		{"a label without a value would match everything", istio, "", match("destination_service"), "bulkheads.g.match", "no value"},
		{"a value with the character that keys are joined by", istio, "", match("destination_service", "a", "b\x1fc"), "bulkheads.g.match", "U+001F"},
		{"a name with it", istio, "", []Group{{Name: "a\x1fb"}}, "bulkheads.a\x1fb.match", "U+001F"},
		{"a value that no server takes", istio, "", match("destination_service", "\xff", "a"), "bulkheads.g.match", "UTF-8"},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, err := newSource(c.series, c.selector, c.groups)
			var in *FieldError
			if !errors.As(err, &in) {
				t.Fatalf("error %v, want a *FieldError", err)
			}
			path := strings.Join(in.Path, ".")
			if path != c.field || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path+": ") {
				t.Errorf("path %q, error %q; want path %q and %q", path, err, c.field, c.want)
			}
		})
	}
}

// A position is one in the text that the user wrote.
func TestPositionsOfParseErrors(t *testing.T) {
	for _, c := range []struct{ why, selector, want string }{
		{"an added brace does not count", `job=checkout`, "1:5: parse error: unexpected identifier"},
		{"nor where it is the last one", `reporter`, "1:9: parse error"},
		{"the user's own brace does", `{job=checkout}`, "1:6: parse error"},
		{"blanks count", `  job=checkout`, "1:7: parse error"},
		{"before a brace too", `  {job=checkout}`, "1:8: parse error"},
		{"a line further down", "a=\"b\",\nc=d", "2:3: parse error"},
		{"a quote that is not closed", `job="checkout`, "1:5: parse error: unterminated quoted string"},
		{"a regexp", `job=~"("`, "1:1: parse error: error parsing regexp"},
	} {
		_, err := parseMatchers(c.selector)
		if err == nil || !strings.Contains(err.Error(), " matchers: "+c.want) {
			t.Errorf("%s: error %v, want %s", c.why, err, c.want)
		}
	}
}

func TestSelectorForms(t *testing.T) {
	for _, c := range []struct{ why, selector, want string }{
		{"none", "", `h_count`},
		{"empty braces", "{}", `h_count`},
		{"blanks", " \n ", `h_count`},
		{"without braces", `a="b"`, `h_count{a="b"}`},
		{"with braces", ` {a="b"} `, `h_count{a="b"}`},
		{"all four operators", `a="1",b!="2",c=~"3",d!~"4"`, `h_count{a="1",b!="2",c=~"3",d!~"4"}`},
		{"a comma at the end", `a="b",`, `h_count{a="b"}`},
		{"single quotes", `a='b"c'`, `h_count{a="b\"c"}`},
		{"a comment, which ends the selector and no more", `a="b"} # or vector(1)`, `h_count{a="b"}`},
		{"a name that needs quotes", `"a.b"="c"`, `h_count{"a.b"="c"}`},
	} {
		src := source1(t, Series{Histogram: "h", Unit: "s", Dependency: []string{"d"}}, c.selector)
		if got := src.counter.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.why, got, c.want)
		}
	}
}

func TestLookupPreset(t *testing.T) {
	if _, err := LookupPreset("itsio"); err == nil || !strings.Contains(err.Error(), `did you mean "istio"`) {
		t.Errorf("error %v, want the nearest name", err)
	}
	for _, p := range Presets() {
		got, err := LookupPreset(p.Name)
		if err != nil || got.Name != p.Name || p.About == "" || !strings.HasPrefix(p.Source, "https://") {
			t.Errorf("preset %q: %v, %+v", p.Name, err, got)
		}
	}
}

// With must reach every field: one that it forgets could not be set by hand.
func TestSeriesWith(t *testing.T) {
	over := Series{Counter: "c", Histogram: "h", Unit: "u", Dependency: []string{"d"}, Instance: []string{"i"},
		Fixed: "f", Errors: []string{"e"}, Rejected: "r", Calls: "w", Level: LevelCall, Ends: EndsComplete}
	if d := cmp.Diff(over, Series{}.With(over)); d != "" {
		t.Errorf("over nothing (-want +got)\n%s", d)
	}
	if d := cmp.Diff(over, over.With(Series{})); d != "" {
		t.Errorf("nothing over it (-want +got)\n%s", d)
	}
	if got := over.With(Series{Unit: "ms"}); got.Unit != "ms" || got.Counter != "c" {
		t.Errorf("one field over it: %+v", got)
	}
}
