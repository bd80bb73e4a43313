package promquery

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// Group is one failure domain to measure: the label values that name it.
type Group struct {
	Name string
	// Match maps a label to the values that belong to the group, summed. Nil:
	// the series' first dependency label equals Name.
	Match map[string][]string
}

// keying maps the label sets of an answer to groups. Where every group is one
// value of one label, that label is the key. Otherwise the labels are joined
// into one (label_join) and the groups of several values are renamed
// (label_replace), inside the query: the instances' maximum must be taken after
// the values of one failure domain were added, and the number of queries must
// not depend on the number of groups.
type keying struct {
	first      string // the label that a name is compared with
	dependency []string
	joined     bool
	renames    []rename
	groups     map[string]string // key -> group name
}

type rename struct{ key, regex string }

// joiner separates the values of several labels in one key: a character that no
// value of a match has (see valid), and that no part of a rename's regexp
// matches. A measured value that has it makes a key with more joiners than any
// group's, so that it is nobody's.
const joiner = "\x1f"

func newKeying(dependency []string, groups []Group) (keying, error) {
	if len(dependency) == 0 {
		return keying{}, fmt.Errorf("no dependency label is named: set prometheus.series.dependency")
	}
	matches := withDefaults(dependency[0], groups)
	if err := valid(dependency, groups, matches); err != nil {
		return keying{}, err
	}
	k := keying{first: dependency[0], dependency: labelsOf(dependency, matches), groups: map[string]string{}}
	k.joined = len(k.dependency) > 1
	if err := overlap(k.dependency, groups, matches); err != nil {
		return keying{}, err
	}
	for _, m := range matches {
		k.joined = k.joined || combinations(k.dependency, m) != 1
	}
	for i, g := range groups {
		k.add(g.Name, matches[i])
	}
	return k, nil
}

// valid refuses what no series can have, and what would match every one.
func valid(dependency []string, groups []Group, matches []map[string][]string) error {
	for _, label := range dependency {
		if !isLabel(label) {
			return fmt.Errorf("%q is no label name", label)
		}
	}
	for i, m := range matches {
		for label, values := range m {
			switch {
			case !isLabel(label):
				return inMatch(groups[i].Name, fmt.Errorf("%q is no label name", label))
			case len(values) == 0:
				return inMatch(groups[i].Name, fmt.Errorf("%s has no value: name at least one, or leave the label out", label))
			case slices.ContainsFunc(values, func(v string) bool { return !utf8.ValidString(v) }):
				return inMatch(groups[i].Name, fmt.Errorf("a value of %s is not UTF-8", label))
			case slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, joiner) }):
				return inMatch(groups[i].Name, fmt.Errorf("a value of %s has the control character U+001F: use another label to name it", label))
			}
		}
	}
	return nil
}

// isLabel: the metric's name is no label here, since a rate has none.
func isLabel(name string) bool {
	return model.UTF8Validation.IsValidLabelName(name) && name != model.MetricNameLabel
}

func withDefaults(label string, groups []Group) []map[string][]string {
	matches := make([]map[string][]string, len(groups))
	for i, g := range groups {
		matches[i] = g.Match
		if len(g.Match) == 0 {
			matches[i] = map[string][]string{label: {g.Name}}
		}
	}
	return matches
}

// labelsOf returns the labels that some group needs, sorted; without groups,
// those of the series.
func labelsOf(dependency []string, matches []map[string][]string) []string {
	var all []string
	for _, m := range matches {
		for label := range m {
			all = append(all, label)
		}
	}
	if len(all) == 0 {
		all = slices.Clone(dependency)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// combinations counts the label value tuples that a match names; 0: open,
// since it leaves a label out.
func combinations(dependency []string, match map[string][]string) int {
	n := 1
	for _, label := range dependency {
		n *= len(match[label])
	}
	return n
}

// overlap refuses two groups that would count the same series.
func overlap(dependency []string, groups []Group, matches []map[string][]string) error {
	for i := range groups {
		for j := range i {
			if meets(dependency, matches[i], matches[j]) {
				return inMatch(groups[i].Name, fmt.Errorf("bulkhead %q matches the same series: give one of them another match", groups[j].Name))
			}
		}
	}
	return nil
}

func meets(dependency []string, a, b map[string][]string) bool {
	for _, label := range dependency {
		open := len(a[label]) == 0 || len(b[label]) == 0
		common := func(v string) bool { return slices.Contains(b[label], v) }
		if !open && !slices.ContainsFunc(a[label], common) {
			return false
		}
	}
	return true
}

// add keys a group by the first of its own values. No series of another group
// has them, so no rename can catch another group's key.
func (k *keying) add(name string, match map[string][]string) {
	key := k.firstKey(match)
	if combinations(k.dependency, match) != 1 {
		k.renames = append(k.renames, rename{key, k.regex(match)})
	}
	k.groups[key] = name
}

func (k *keying) firstKey(match map[string][]string) string {
	values := make([]string, len(k.dependency))
	for i, label := range k.dependency {
		if len(match[label]) > 0 {
			values[i] = match[label][0]
		}
	}
	return strings.Join(values, joiner)
}

func (k *keying) regex(match map[string][]string) string {
	parts := make([]string, len(k.dependency))
	for i, label := range k.dependency {
		parts[i] = "[^" + joiner + "]*"
		if values := match[label]; len(values) > 0 {
			quoted := make([]string, len(values))
			for j, v := range values {
				quoted[j] = regexp.QuoteMeta(v)
			}
			parts[i] = "(?:" + strings.Join(quoted, "|") + ")"
		}
	}
	return strings.Join(parts, joiner)
}

// labels are what an aggregation groups by.
func (k *keying) labels() []string {
	if k.joined {
		return []string{keyLabel}
	}
	return slices.Clone(k.dependency)
}

// wrap adds the key label to every series of e, where one is needed.
func (k *keying) wrap(e parser.Expr) parser.Expr {
	if !k.joined {
		return e
	}
	args := []parser.Expr{e, text(keyLabel), text(joiner)}
	for _, label := range k.dependency {
		args = append(args, text(label))
	}
	e = call("label_join", args...)
	for _, r := range k.renames {
		e = call("label_replace", e, text(keyLabel), text(literal(r.key)), text(keyLabel), text(r.regex))
	}
	return e
}

func text(s string) parser.Expr { return &parser.StringLiteral{Val: s} }

// literal is s as the replacement of a label_replace, in which $1 is a group.
func literal(s string) string { return strings.ReplaceAll(s, "$", "$$") }

// group returns the group of an answered series; found is false for a
// dependency that no group names, and then name is its key, for people.
func (k *keying) group(m model.Metric) (name string, found bool) {
	label := model.LabelName(k.labels()[0])
	key := string(m[label])
	if g, ok := k.groups[key]; ok {
		return g, true
	}
	return strings.ReplaceAll(key, joiner, ";"), false
}

// describe says which label values a group is, for people.
func (k *keying) describe(g Group) string {
	match := withDefaults(k.first, []Group{g})[0]
	var parts []string
	for _, label := range slices.Sorted(maps.Keys(match)) {
		parts = append(parts, fmt.Sprintf("%s=%q", label, strings.Join(match[label], "|")))
	}
	return strings.Join(parts, ",")
}
