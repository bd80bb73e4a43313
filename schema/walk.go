package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cuelang.org/go/cue"
	"github.com/agnivade/levenshtein"
)

// walker finds what is wrong with each value by itself.
type walker struct {
	src      *source
	style    style // of the file, for the examples of a fix
	root     *node
	verdict  error
	skip     map[*node]bool // values with a problem: the rules between fields do without them
	problems []Problem
}

// maxProblems bounds the list: nobody reads on, and a hostile file has many.
const maxProblems = 100

func (w *walker) add(p Problem) {
	if len(w.problems) < maxProblems {
		p.Fix = w.style.hint(p.Fix)
		w.problems = append(w.problems, p)
	}
}

// bad reports a value, and keeps it from the rules between fields.
func (w *walker) bad(n *node, s *shape, path []string, rule, message, fix string) {
	w.skip[n] = true
	w.add(Problem{Rule: rule, Path: joinPath(path), Pos: w.src.position(n.at), SchemaPos: toSchemaPosition(s.pos), Message: message, Fix: fix})
}

func (w *walker) walk(n *node, s *shape, path []string) {
	switch {
	case len(w.problems) >= maxProblems:
	case n.kind == mapKind && s.isMap():
		w.mapping(n, s, path)
	case n.kind == listKind && s.elem != nil:
		w.list(n, s, path)
	case n.kind == nullKind && s.null:
	case s.def == "" || s.isMap() && s.expect == "" && !w.scalarAllowed(s):
		w.bad(n, s, path, RuleType, fmt.Sprintf("%s is %s, but a mapping is expected", w.name(path), n.describe()), insteadOf(n, s))
	default:
		w.scalar(n, s, path)
	}
}

// scalarAllowed says whether a definition has alternatives beside its mapping.
func (w *walker) scalarAllowed(s *shape) bool {
	return s.def != "" && definition(s.def).IncompleteKind()&^(cue.StructKind|cue.NullKind) != 0
}

func (w *walker) mapping(n *node, s *shape, path []string) {
	if s.tooLong(n) {
		w.bad(n, s, path, RuleRange, fmt.Sprintf("%s has %d entries; at most %d are allowed", w.name(path), len(n.fields), s.atMost), "split the file")
		return
	}
	for _, f := range n.fields {
		at := append(slices.Clip(path), f.key)
		switch known := s.fieldNamed(f.key); {
		case known != nil:
			w.walk(f.value, known.shape, at)
		case s.any != nil && goodName(f.key):
			w.walk(f.value, s.any, at)
		case s.any != nil:
			w.skip[f.value] = true
			w.add(Problem{Rule: RuleRange, Path: joinPath(at), Pos: w.src.position(f.at), SchemaPos: toSchemaPosition(s.pos),
				Message: fmt.Sprintf("%q is no name: allowed are 1 to 200 characters without control characters", clip(f.key)), Fix: "use a shorter, printable name"})
		default:
			w.unknown(f, s, at)
		}
	}
	if len(n.fields) < s.atLeast {
		w.bad(n, s, path, RuleMissing, fmt.Sprintf("%s is empty; it needs at least %d entry", w.name(path), s.atLeast), emptyFix(path))
	}
	for _, k := range s.known {
		if k.required && n.field(k.name) == nil {
			w.missing(n, k, append(slices.Clip(path), k.name))
		}
	}
}

// tooLong says whether a mapping or a list has more in it than it may have.
func (s *shape) tooLong(n *node) bool {
	return s.atMost > 0 && max(len(n.fields), len(n.items)) > s.atMost
}

// tooLong reports a list without a look at its items.
func (w *walker) tooLong(n *node, s *shape, path []string) {
	if s.expect != "" {
		w.bad(n, s, path, RuleRange, fmt.Sprintf("%s has %d items; expected %s", w.name(path), len(n.items), s.expects(w.style)), s.fix)
		return
	}
	w.bad(n, s, path, RuleRange, fmt.Sprintf("%s has %d items; at most %d are allowed", w.name(path), len(n.items), s.atMost), "write fewer items")
}

func goodName(key string) bool {
	return key != "" && utf8.RuneCountInString(key) <= 200 && !strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r >= 0x7f && r <= 0x9f })
}

func emptyFix(path []string) string {
	switch strings.Join(path, ".") {
	case "pools":
		return "add the pool that the bulkheads draw on: outbound: {size: 100}"
	case "bulkheads":
		return "add a bulkhead for each dependency: payments: {permits: 15}"
	}
	return "add an entry, or remove the field"
}

func (w *walker) missing(n *node, k shapeField, path []string) {
	fix := "add " + k.name
	if k.shape.expect != "" {
		fix += ", " + k.shape.expect
	}
	if k.shape.isMap() {
		fix = emptyFix(path)
	}
	w.add(Problem{Rule: RuleMissing, Path: joinPath(path), Pos: w.src.position(n.at), SchemaPos: toSchemaPosition(k.pos),
		Message: fmt.Sprintf("%s is missing", w.name(path)), Fix: fix})
}

func (w *walker) unknown(f field, s *shape, path []string) {
	w.skip[f.value] = true
	names := make([]string, len(s.known))
	for i, k := range s.known {
		names[i] = k.name
	}
	fix := "remove it, or use one of " + strings.Join(names, ", ")
	if near := nearestName(f.key, names); near != "" {
		fix = fmt.Sprintf("write %s instead", w.style.key(near))
	}
	where := "at the top of the file"
	if len(path) > 1 {
		where = "in " + clip(joinPath(path[:len(path)-1]))
	}
	w.add(Problem{Rule: RuleUnknownField, Path: joinPath(path), Pos: w.src.position(f.at), SchemaPos: toSchemaPosition(s.pos),
		Message: fmt.Sprintf("there is no field %q %s", clip(f.key), where), Fix: fix})
}

// nearestName returns the name that a reader would have meant, "" where none
// is near: a distance of up to a third of the letters.
func nearestName(name string, names []string) string {
	best, least := "", max(1, utf8.RuneCountInString(name)/3)+1
	if len(name) > 60 {
		return ""
	}
	for _, candidate := range names {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), candidate); d < least {
			best, least = candidate, d
		}
	}
	return best
}

func (w *walker) list(n *node, s *shape, path []string) {
	if s.tooLong(n) {
		w.tooLong(n, s, path)
		return
	}
	before := len(w.problems)
	for i, item := range n.items {
		w.walk(item, s.elem, append(slices.Clip(path), strconv.Itoa(i)))
	}
	if len(w.problems) == before && s.def != "" && !fits(n, s.def) {
		w.bad(n, s, path, RuleRange, fmt.Sprintf("%s has %d items; expected %s", w.name(path), len(n.items), s.expects(w.style)), s.fix)
	}
	if len(w.problems) > before {
		w.skip[n] = true
	}
}

func (w *walker) scalar(n *node, s *shape, path []string) {
	isScalar := n.kind != listKind && n.kind != mapKind // CUE need not read a long list to tell
	if isScalar && !n.wild && fits(n, s.def) {
		return
	}
	rule, message, fix := explain(n, s, w.name(path), w.style)
	w.bad(n, s, path, rule, message, fix)
}

// fits asks CUE about one value by itself.
func fits(n *node, def string) bool {
	return context().BuildExpr(emit(n, nil)).Unify(definition(def)).Validate(cue.Concrete(true)) == nil
}

// name returns how messages call a place: by its field, and for list items by
// the list's.
func (w *walker) name(path []string) string {
	if len(path) == 0 {
		return "the file"
	}
	last, parent := path[len(path)-1], w.root
	for _, key := range path[:len(path)-1] {
		if parent = parent.child(key); parent == nil {
			break
		}
	}
	if parent != nil && parent.kind == listKind && len(path) > 1 {
		return fmt.Sprintf("item %s of %s", last, clip(path[len(path)-2]))
	}
	return clip(joinPath([]string{last}))
}
