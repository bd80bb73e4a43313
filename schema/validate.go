package schema

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"
)

// validate lets CUE judge a tree. Only where the verdict is no does it look for
// the reasons: first value by value, each against its own definition, then the
// rules between fields, over all values that are good by themselves. CUE's own
// list of errors is not used for that, since it stops early within a mapping
// and lists every alternative of a disjunction.
func validate(src *source, format Format, root *node) []Problem {
	compiled.lock.Lock()
	defer compiled.lock.Unlock()
	w := &walker{src: src, style: styleOf(format), root: root, skip: map[*node]bool{}}
	if !w.hopeless(root, rootShape()) {
		err := context().BuildExpr(emit(root, nil)).Unify(definition("#Config")).Validate(cue.Concrete(true))
		if err == nil {
			return nil
		}
		w.verdict = err
	}
	w.walk(root, rootShape(), nil)
	w.rules()
	if len(w.problems) == 0 {
		w.unexplained()
	}
	return w.problems
}

// hopeless says whether it is plain without CUE that the verdict is no: by a
// field that the schema does not know, a list where none may be, too many
// entries, or a number that is none. CUE takes quadratic time for most of them.
func (w *walker) hopeless(n *node, s *shape) bool {
	if n.wild || s == nil && len(n.fields) > 0 || s != nil && s.tooLong(n) {
		return true
	}
	for _, f := range n.fields {
		inner := s.any
		if known := s.fieldNamed(f.key); known != nil {
			inner = known.shape
		}
		if inner == nil || w.hopeless(f.value, inner) {
			return true
		}
	}
	for _, item := range n.items {
		if s == nil || s.elem == nil || w.hopeless(item, s.elem) {
			return true
		}
	}
	return false
}

// rules asks CUE for the rules between fields. Under a hidden field the path
// of the error is the path of the field that breaks the rule.
func (w *walker) rules() {
	if w.root.kind != mapKind || len(w.problems) >= maxProblems {
		return
	}
	err := context().BuildExpr(emit(w.root, w.skip)).Unify(definition("#Rules")).Validate()
	seen := map[string]bool{}
	for _, e := range cueerrors.Errors(err) {
		path := e.Path()
		rule := map[string]string{"_budget": RuleOvercommit, "_missing": RuleMissing, "_contradiction": RuleContradiction}[first(path)]
		if rule == "" {
			continue
		}
		format, args := e.Msg()
		message, fix, ok := cutLast(fmt.Sprintf(format, args...), "; ")
		keys := unquoteAll(path[1:])
		if joined := joinPath(keys); ok && !seen[joined] {
			seen[joined] = true
			w.add(Problem{Rule: rule, Path: joined, Pos: w.src.position(w.root.nearest(keys)), SchemaPos: schemaPosition(e), Message: message, Fix: fix})
		}
	}
}

// unexplained reports what CUE refuses and no explanation covers.
func (w *walker) unexplained() {
	e := cueerrors.Errors(w.verdict)
	p := Problem{Rule: RuleContradiction, Pos: w.src.position(w.root.at), Message: "the file does not fit the schema", Fix: "compare it with `bhsize schema`"}
	if len(e) > 0 {
		keys := unquoteAll(e[0].Path())
		p.Path, p.Pos, p.SchemaPos = joinPath(keys), w.src.position(w.root.nearest(keys)), schemaPosition(e[0])
		p.Message = "the value does not fit the schema"
	}
	w.add(p)
}

// schemaPosition returns the last place in the schema that an error names.
func schemaPosition(e cueerrors.Error) Position {
	var found token.Pos
	for _, pos := range append([]token.Pos{e.Position()}, e.InputPositions()...) {
		if pos.IsValid() && pos.Filename() == schemaFile {
			found = pos
		}
	}
	return toSchemaPosition(found)
}

func toSchemaPosition(pos token.Pos) Position {
	if !pos.IsValid() {
		return Position{}
	}
	return Position{File: schemaFile, Line: pos.Line(), Column: pos.Column()}
}

func first(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return path[0]
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// unquoteAll undoes the quotes that CUE puts around labels that need them.
func unquoteAll(path []string) []string {
	keys := make([]string, len(path))
	for i, p := range path {
		keys[i] = p
		if sel := cue.ParsePath(p).Selectors(); len(sel) == 1 && sel[0].IsString() {
			keys[i] = sel[0].Unquoted()
		}
	}
	return keys
}
