package promquery_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bhsize/bhsize/promquery"
)

// peers is an hour of calls of two pods. Pods differ most where the sum over
// peers does not: what is taken first, sum or maximum, shows.
func peers(t *testing.T, rates map[string][2]float64) promquery.Querier {
	var all []counter
	for labels, r := range rates {
		all = append(all, histogram("h", labels+`,pod="1"`, steady(r[0]), []float64{0.1, 1}, 0.1, 0.05)...)
		all = append(all, histogram("h", labels+`,pod="2"`, steady(r[1]), []float64{0.1, 1}, 0.1, 0.05)...)
	}
	return scraped(t, 15*time.Second, time.Hour, all...)
}

func TestGroups(t *testing.T) {
	type match = map[string][]string
	db := peers(t, map[string][2]float64{
		`peer="a",port="1"`:          {10, 5},
		`peer="b",port="1"`:          {1, 9},
		`peer="b",port="2"`:          {100, 50},
		`peer="bulkhead-1",port="1"`: {1000, 1000},
		`peer="a.b|c",port="1"`:      {7, 6},
		`peer="aXb|c",port="1"`:      {500, 500},
		`peer="$1${0}",port="1"`:     {3, 4},
		`peer="x;y",port="z"`:        {20, 20},
		`peer="x",port="y;z"`:        {30, 30},
		`port="9"`:                   {40, 41},
	})
	for _, c := range []struct {
		why            string
		groups         []promquery.Group
		instance       map[string]float64 // busiest instance of each group
		fleet          map[string]float64
		unmatchedHolds string
	}{
		{"one label is the name", named("a"), map[string]float64{"a": 10}, map[string]float64{"a": 15}, "b"},
		{"a name with metacharacters is no pattern", named("a.b|c"), map[string]float64{"a.b|c": 7}, map[string]float64{"a.b|c": 13}, "aXb|c"},
		{"values are added before the maximum over instances",
			[]promquery.Group{{Name: "both", Match: match{"peer": {"a", "b"}, "port": {"1"}}}},
			map[string]float64{"both": 14}, map[string]float64{"both": 25}, "b;2"},
		{"a label that is left out is open", []promquery.Group{{Name: "all of b", Match: match{"peer": {"b"}}}, {Name: "a", Match: match{"peer": {"a"}, "port": {"1"}}}},
			map[string]float64{"all of b": 101, "a": 10}, map[string]float64{"all of b": 160, "a": 15}, "bulkhead-1;1"},
		{"a name beside a match by another label", []promquery.Group{{Name: "a"}, {Name: "two", Match: match{"port": {"2"}, "peer": {"b", "c"}}}},
			map[string]float64{"a": 10, "two": 100}, map[string]float64{"a": 15, "two": 150}, "b;1"},
		{"no dependency is called what a group is keyed by inside", []promquery.Group{{Name: "g", Match: match{"peer": {"a", "nobody"}}}, {Name: "bulkhead-1"}},
			map[string]float64{"g": 10, "bulkhead-1": 1000}, map[string]float64{"g": 15, "bulkhead-1": 2000}, "b"},
		{"values with metacharacters are neither pattern nor replacement", []promquery.Group{{Name: "g", Match: match{"peer": {"$1${0}", "a.b|c"}}}},
			map[string]float64{"g": 10}, map[string]float64{"g": 20}, "aXb|c"},
		{"a value that is named first but does not exist", []promquery.Group{{Name: "g", Match: match{"peer": {"nobody", "a"}}}},
			map[string]float64{"g": 10}, map[string]float64{"g": 15}, "b"},
		{"tuples that join alike are two", []promquery.Group{{Name: "1", Match: match{"peer": {"x;y"}, "port": {"z"}}}, {Name: "2", Match: match{"peer": {"x"}, "port": {"y;z"}}}},
			map[string]float64{"1": 20, "2": 30}, map[string]float64{"1": 40, "2": 60}, "a;1"},
		{"an empty value is an absent label", []promquery.Group{{Name: "none", Match: match{"peer": {""}}}},
			map[string]float64{"none": 41}, map[string]float64{"none": 81}, "a"},
	} {
		t.Run(c.why, func(t *testing.T) {
			m := measure(t, db, request(time.Hour, c.groups...))
			for name, want := range c.instance {
				near(t, "peak per instance of "+name, m.Dependencies[name].PeakInstance.Value, want, 1e-6)
				near(t, "peak of the fleet of "+name, m.Dependencies[name].PeakFleet.Value, c.fleet[name], 1e-6)
			}
			if !slices.Contains(m.Unmatched, c.unmatchedHolds) {
				t.Errorf("unmatched are %q, want %q among them", m.Unmatched, c.unmatchedHolds)
			}
			if strings.ContainsRune(strings.Join(m.Unmatched, ""), '\x1f') {
				t.Errorf("unmatched %q are not for people", m.Unmatched)
			}
		})
	}
}

// A measured value that has the character which joins keys is nobody's, though
// its key looks like one of a group.
func TestJoinedKeysCannotBeForged(t *testing.T) {
	type match = map[string][]string
	db := peers(t, map[string][2]float64{
		`peer="a",port="1",zone="z"`:               {1, 1},
		"peer=\"a\x1f1\",port=\"1\",zone=\"z\"":    {10, 10},
		"peer=\"a\x1f1\",zone=\"z\"":               {20, 20},
		"peer=\"a\",port=\"1\x1f1\",zone=\"z\"":    {30, 30},
		"peer=\"a\x1f1\x1fz\"":                     {40, 40},
		"peer=\"a\",port=\"1\x1fz\"":               {50, 50},
		"peer=\"b\x1f2\",port=\"2\",zone=\"z\"":    {60, 60},
		"peer=\"\x1fa\",port=\"1\",zone=\"z\"":     {70, 70},
		"peer=\"a\x1f\",port=\"1\",zone=\"\x1fz\"": {80, 80},
	})
	for why, m := range map[string]match{
		"all labels":          {"peer": {"a"}, "port": {"1"}, "zone": {"z"}},
		"one label open":      {"peer": {"a"}, "port": {"1"}},
		"two labels open":     {"peer": {"a"}},
		"the first one open":  {"port": {"1"}, "zone": {"z"}},
		"several values":      {"peer": {"a", "b"}, "port": {"1", "2"}},
		"the middle one open": {"peer": {"a"}, "zone": {"z"}},
	} {
		r := request(time.Hour, promquery.Group{Name: "g", Match: m}, promquery.Group{Name: "other", Match: match{"peer": {"none"}, "port": {"9"}, "zone": {"9"}}})
		near(t, why, measure(t, db, r).Dependencies["g"].PeakFleet.Value, 2, 1e-6)
	}
}

func TestOverlapIsRefused(t *testing.T) {
	type match = map[string][]string
	for _, c := range []struct {
		why    string
		groups []promquery.Group
		refuse bool
	}{
		{"the same name", named("a", "a"), true},
		{"a name that another one lists", []promquery.Group{{Name: "a"}, {Name: "b", Match: match{"peer": {"x", "a"}}}}, true},
		{"an open label meets everything", []promquery.Group{{Name: "a"}, {Name: "b", Match: match{"port": {"1"}}}}, true},
		{"one label in common, the other apart", []promquery.Group{{Name: "a", Match: match{"peer": {"x"}, "port": {"1"}}}, {Name: "b", Match: match{"peer": {"x"}, "port": {"2"}}}}, false},
		{"different values", named("a", "b"), false},
	} {
		_, err := promquery.Measure(t.Context(), nobody{}, request(time.Hour, c.groups...))
		var in *promquery.FieldError
		refused := errors.As(err, &in)
		if refused != c.refuse {
			t.Errorf("%s: error %v, want refused %v", c.why, err, c.refuse)
		}
		if refused && (len(in.Path) != 3 || !strings.Contains(err.Error(), `bulkhead "a" matches the same series`)) {
			t.Errorf("%s: error %q does not name both", c.why, err)
		}
	}
}

// The description is what an error shows: labels in order, values as written.
func TestMatchForPeople(t *testing.T) {
	db := peers(t, map[string][2]float64{`peer="a"`: {1, 1}})
	m := measure(t, db, request(time.Hour, promquery.Group{Name: "a"}, promquery.Group{Name: "b", Match: map[string][]string{"port": {"1", "2"}, "peer": {"x"}}}))
	if got := m.Dependencies["a"].Match; got != `peer="a"` {
		t.Errorf("by name: %s", got)
	}
	if got := m.Dependencies["b"].Match; got != `peer="x",port="1|2"` {
		t.Errorf("by match: %s", got)
	}
}
