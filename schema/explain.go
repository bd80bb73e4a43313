package schema

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"cuelang.org/go/cue"

	"github.com/bhsize/bhsize/sizing"
)

// describe names a value the way a message quotes it.
func (n *node) describe() string {
	switch n.kind {
	case stringKind:
		return strconv.Quote(clip(n.text))
	case numberKind:
		return clip(n.text)
	case boolKind:
		return n.text
	case nullKind:
		return "empty"
	}
	return n.kind.String()
}

// explain says why a value does not fit a definition, and what to do.
func explain(n *node, s *shape, name string, st style) (rule, message, fix string) {
	switch {
	case n.wild:
		return RuleRange, fmt.Sprintf("%s: %s is not a usable number; expected %s", name, clip(n.text), s.expects(st)), s.fixes(st)
	case strings.HasPrefix(s.def, "#Duration") && n.kind == numberKind:
		return bareDuration(n, name)
	case n.kind == numberKind && !n.whole && definition(s.def).IncompleteKind()&cue.NumberKind == cue.IntKind:
		return RuleType, fmt.Sprintf("%s is %s; expected %s", name, clip(n.text), s.expects(st)), "write it without a point or exponent"
	case s.def == "#Permits" && n.kind == stringKind && strings.HasSuffix(n.text, "%"):
		return RuleType, fmt.Sprintf("permits: %s is a share; a share of the pool grows when the pool does, and the dependency does not grow with it", clip(n.text)), "write the number of calls in flight, or leave permits out to have it recommended"
	case !allows(s, n.kind):
		return wrongKind(n, s, name, st)
	case strings.HasPrefix(s.def, "#Duration"):
		return badDuration(n, s, name, st)
	case s.def == "#Version":
		return RuleRange, fmt.Sprintf("version %s is not known; this program reads version 1", clip(n.text)), "write version: 1, or use a newer bhsize"
	}
	message = fmt.Sprintf("%s is %s; expected %s", name, n.describe(), s.expects(st))
	if near := nearestName(n.text, choices(s)); near != "" && n.kind == stringKind {
		return RuleRange, message, "write " + st.text(near) + " instead"
	}
	return RuleRange, message, s.fixes(st)
}

// choices returns the words that an enumeration allows.
func choices(s *shape) []string {
	list, ok := strings.CutPrefix(s.expect, "one of ")
	if !ok {
		return nil
	}
	return strings.Split(list, ", ")
}

// expects says what is allowed, its examples in the style of the file.
func (s *shape) expects(st style) string {
	if s.expect == "" {
		return "a mapping"
	}
	if words := choices(s); words != nil {
		return "one of " + st.list(words)
	}
	return st.hint(s.expect)
}

// list writes words as text of the file.
func (s style) list(words []string) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = s.text(w)
	}
	return strings.Join(texts, ", ")
}

func (s *shape) fixes(st style) string {
	switch {
	case s.fix != "":
		return s.fix
	case choices(s) != nil:
		return "use " + st.list(choices(s)) + ", or leave the field out"
	}
	return mappingFix(s)
}

// insteadOf says what to write where a mapping is expected. A number of retries
// is a mapping of one field, and may or may not count the first attempt.
func insteadOf(n *node, s *shape) string {
	const most = 999 // so that one more still fits
	if attempts := n.integer(); s.def == "#Retries" && n.kind == numberKind && attempts != nil && *attempts >= 1 && *attempts <= most {
		return fmt.Sprintf("write retries: {max_attempts: %d} for %d attempts in all, or {max_attempts: %d} for %d retries, as the first attempt counts too", *attempts, *attempts, *attempts+1, *attempts)
	}
	return mappingFix(s)
}

// mappingFix names the fields that a mapping may have.
func mappingFix(s *shape) string {
	if len(s.known) == 0 {
		return "write a mapping: {name: value}"
	}
	names := make([]string, len(s.known))
	for i, k := range s.known {
		names[i] = k.name
	}
	return "write a mapping with the fields " + strings.Join(names, ", ")
}

// allows says whether any value of a kind fits a definition.
func allows(s *shape, k kind) bool {
	kinds := map[kind]cue.Kind{nullKind: cue.NullKind, boolKind: cue.BoolKind, numberKind: cue.NumberKind, stringKind: cue.StringKind, listKind: cue.ListKind, mapKind: cue.StructKind}
	return s.def != "" && definition(s.def).IncompleteKind()&kinds[k] != 0
}

func wrongKind(n *node, s *shape, name string, st style) (rule, message, fix string) {
	message = fmt.Sprintf("%s is %s; expected %s", name, n.describe(), s.expects(st))
	var bare node
	setNumber(&bare, n.text)
	switch {
	case n.kind == stringKind && !bare.wild && n.text != "" && allows(s, numberKind):
		return RuleType, message, "remove the quotes"
	case (n.kind == numberKind || n.kind == boolKind) && allows(s, stringKind) && s.def == "#Text":
		return RuleType, message, fmt.Sprintf("put it in quotes: %q", clip(n.text))
	case n.kind == nullKind:
		return RuleType, message, "give it a value, or remove the field"
	}
	return RuleType, message, s.fixes(st)
}

func bareDuration(n *node, name string) (rule, message, fix string) {
	return RuleUnit, fmt.Sprintf("%s: %s has no unit", name, n.text), withUnit(name, n.text)
}

// withUnit names the units that a bare number might have meant.
func withUnit(name, number string) string {
	if x, err := sizing.ParseNumber(number); err == nil {
		number = sizing.FormatNumber(x) // 1e3 is no number of a duration
	}
	if name == "window" {
		return fmt.Sprintf("write %sd or %sh", number, number)
	}
	return fmt.Sprintf("write %sms or %ss", number, number)
}

var numberAndUnit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)\s*(\pL*)$`)
})

func badDuration(n *node, s *shape, name string, st style) (rule, message, fix string) {
	const units = "ns, us, ms, s, m, h, d, w"
	m := numberAndUnit().FindStringSubmatch(n.text)
	switch {
	case m == nil:
		return RuleType, fmt.Sprintf("%s is %s; expected %s", name, n.describe(), s.expects(st)), s.fix
	case m[2] == "":
		return RuleUnit, fmt.Sprintf("%s: %q has no unit", name, clip(n.text)), withUnit(name, m[1])
	case !strings.Contains(", "+units+", µs, μs, ", ", "+m[2]+", "):
		return RuleUnit, fmt.Sprintf("%s: %q has the unknown unit %q; known are %s", name, clip(n.text), clip(m[2]), units), unitFix(m[1], m[2])
	case strings.ContainsAny(n.text, " \t"):
		return RuleType, fmt.Sprintf("%s: %q has a space", name, clip(n.text)), "write " + m[1] + m[2]
	case strings.Trim(m[1], "0.") == "":
		return RuleRange, fmt.Sprintf("%s is %s; expected %s", name, m[0], s.expects(st)), "write how long, or leave the field out"
	}
	return RuleRange, fmt.Sprintf("%s: %q has too many digits", name, clip(n.text)), "write at most 12 digits before and after the point"
}

// unitFix guesses the unit from common spellings.
func unitFix(number, unit string) string {
	spelled := map[string]string{"sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m", "mins": "m", "minute": "m", "minutes": "m", "hr": "h", "hour": "h", "hours": "h", "day": "d", "days": "d", "week": "w", "weeks": "w", "msec": "ms", "millis": "ms", "milliseconds": "ms"}
	if u := spelled[strings.ToLower(unit)]; u != "" {
		return "write " + number + u
	}
	if u := strings.ToLower(unit); u != unit && strings.Contains(" ms s h d w ", " "+u+" ") {
		return "write " + number + u
	}
	return "write " + number + "ms or " + number + "s"
}
