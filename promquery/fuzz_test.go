package promquery

import (
	"strings"
	"testing"
)

// FuzzExpressions: whatever a user writes as selector, errors and match, it is
// an error, or all queries parse and every selector in them keeps the preset's
// fixed matchers.
func FuzzExpressions(f *testing.F) {
	for _, h := range hostile {
		f.Add(`a="b"`, `code="5"`, "label", h)
		f.Add(h, h, h, h)
	}
	f.Add(`job=~"x|y"`, `errors_total{a="b"}`, "a.b", "v")
	f.Add(`{"a b"="c"}`, `'`, "le", "")
	istio := istioSeries(f)
	f.Fuzz(func(t *testing.T, selector, failed, label, values string) {
		if metricStart.MatchString(failed) {
			failed = `code="` // another exporter's metric does not carry the fixed matchers
		}
		groups := []Group{{Name: "g", Match: map[string][]string{label: strings.Split(values, ",")}}, {Name: values}}
		src, err := newSource(istio.With(Series{Errors: []string{failed}}), selector, groups[:1+len(values)%2])
		if err != nil {
			return
		}
		for _, q := range expressions(src) {
			intact(t, q.Expr, src)
		}
	})
}
