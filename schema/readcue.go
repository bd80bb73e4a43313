package schema

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
)

// readCUE evaluates a CUE file that is data: literals, references, templates,
// arithmetic. What could read, run or blow up is refused before evaluation.
func readCUE(src *source) (*node, []Problem) {
	body, base := src.body()
	if problems := scanCUE(src, body, base); len(problems) > 0 {
		return nil, problems
	}
	file, err := parser.ParseFile(src.name, body)
	if err != nil {
		return nil, cueProblems(src, base, RuleSyntax, "not valid CUE: ", "correct the CUE", err)
	}
	if problems := guardCUE(src, base, file); len(problems) > 0 {
		return nil, problems
	}
	compiled.lock.Lock()
	defer compiled.lock.Unlock()
	v := context().BuildFile(file)
	if err := v.Validate(cue.Concrete(true)); err != nil {
		return nil, cueProblems(src, base, RuleContradiction, "CUE: ", "give every field one concrete value", err)
	}
	r := &cueReader{src: src, base: base}
	return r.read(v, 0), nil
}

// cueProblems translates errors that CUE found in the user's own expressions.
func cueProblems(src *source, base int, rule, prefix, fix string, err error) []Problem {
	var problems []Problem
	for _, e := range cueerrors.Errors(err) {
		format, args := e.Msg()
		text, _, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
		if strings.Contains(text, "disjunction") {
			text = "the value is none of its alternatives"
		}
		p := src.problem(rule, cueOffset(src, base, e), prefix+clip(text), fix)
		p.Path = joinPath(e.Path())
		problems = append(problems, p)
	}
	return problems
}

// cueOffset returns the first place in the user's file that an error names.
func cueOffset(src *source, base int, e cueerrors.Error) int {
	for _, pos := range append([]token.Pos{e.Position()}, e.InputPositions()...) {
		if pos.IsValid() && pos.Filename() == src.name {
			return base + pos.Offset()
		}
	}
	return base
}

// cueReader turns an evaluated CUE value into nodes.
type cueReader struct {
	src   *source
	base  int
	count int
}

func (r *cueReader) read(v cue.Value, depth int) *node {
	v, _ = v.Default()
	n := &node{at: r.base + v.Pos().Offset(), flow: true, size: 1}
	if r.count++; depth > maxDepth || r.count > maxSize {
		return n
	}
	switch v.Kind() {
	case cue.StructKind:
		n.kind = mapKind
		for it, _ := v.Fields(); it.Next(); {
			child := r.read(it.Value(), depth+1)
			n.add(field{key: it.Selector().Unquoted(), at: child.at, value: child})
		}
	case cue.ListKind:
		n.kind = listKind
		for it, _ := v.List(); it.Next(); {
			child := r.read(it.Value(), depth+1)
			n.items = append(n.items, child)
			n.size = saturated(n.size + child.size)
		}
	case cue.IntKind, cue.FloatKind, cue.NumberKind:
		text, _ := v.MarshalJSON()
		setNumber(n, string(text))
	case cue.StringKind:
		n.kind = stringKind
		n.text, _ = v.String()
	case cue.BoolKind:
		b, _ := v.Bool()
		n.kind, n.text = boolKind, fmt.Sprint(b)
	case cue.BytesKind:
		n.kind = listKind // no field takes bytes, nor an empty list
	}
	return n
}

// Limits on a CUE file, far above what data needs.
const (
	maxAlternatives = 16
	maxExpansion    = 100_000
)

// guardCUE refuses what data does not need and evaluation could choke on.
func guardCUE(src *source, base int, file *ast.File) []Problem {
	g := &cueGuard{src: src, base: base}
	ast.Walk(file, g.visit, nil)
	if len(g.problems) == 0 {
		g.expansion(file)
	}
	return g.problems
}

type cueGuard struct {
	src          *source
	base         int
	alternatives int
	problems     []Problem
}

func (g *cueGuard) fail(n ast.Node, message, fix string) bool {
	at := g.base
	if n.Pos().IsValid() {
		at += n.Pos().Offset()
	}
	g.problems = append(g.problems, g.src.problem(RuleSyntax, at, message, fix))
	return false
}

func (g *cueGuard) visit(n ast.Node) bool {
	const data = "write the values out; a bulkhead file is data"
	switch n := n.(type) {
	case *ast.ImportDecl:
		return g.fail(n, "imports are not allowed", data)
	case *ast.Comprehension:
		return g.fail(n, "comprehensions are not allowed", data)
	case *ast.CallExpr:
		return g.fail(n, "calls are not allowed", data)
	case *ast.LetClause:
		return g.fail(n, "let is not allowed", "use a hidden field such as _name")
	case *ast.Interpolation:
		return g.fail(n, "interpolation is not allowed", data)
	case *ast.Alias:
		return g.fail(n, "aliases are not allowed", data)
	case *ast.UnaryExpr:
		return g.unary(n)
	case *ast.BinaryExpr:
		return g.binary(n)
	case *ast.BasicLit:
		if len(n.Value) > maxDigits && (n.Kind == token.INT || n.Kind == token.FLOAT) || n.Kind == token.FLOAT && hugeExponent(n.Value) {
			return g.fail(n, "number "+clip(n.Value)+" is beyond all use", "write an ordinary number")
		}
	}
	return true
}

func hugeExponent(s string) bool {
	var n node
	setNumber(&n, s)
	return n.wild && strings.ContainsAny(s, "eE")
}

// unary allows signs and the default mark: bounds are for schemas, and some
// send the evaluator of v0.17.1 into endless recursion.
func (g *cueGuard) unary(n *ast.UnaryExpr) bool {
	switch n.Op {
	case token.ADD, token.SUB, token.MUL:
		return true
	}
	return g.fail(n, fmt.Sprintf("the constraint %s is not allowed", n.Op), "write the value itself; the schema checks it")
}

func (g *cueGuard) binary(n *ast.BinaryExpr) bool {
	switch n.Op {
	case token.OR:
		if g.alternatives++; g.alternatives > maxAlternatives {
			return g.fail(n, fmt.Sprintf("more than %d alternatives", maxAlternatives), "write the values out")
		}
	case token.MUL:
		if !isArithmetic(n.X) || !isArithmetic(n.Y) {
			return g.fail(n, "only numbers can be multiplied", "write the result")
		}
	case token.AND, token.ADD, token.SUB, token.QUO:
	default:
		return g.fail(n, fmt.Sprintf("the operator %s is not allowed", n.Op), "write the result")
	}
	return true
}

// isArithmetic says whether an expression is made of number literals.
func isArithmetic(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return x.Kind == token.INT || x.Kind == token.FLOAT
	case *ast.ParenExpr:
		return isArithmetic(x.X)
	case *ast.UnaryExpr:
		return isArithmetic(x.X)
	case *ast.BinaryExpr:
		return isArithmetic(x.X) && isArithmetic(x.Y)
	}
	return false
}

// expansion refuses references that go round, and those that could make a small
// file a large one, also by templates applied to every field.
func (g *cueGuard) expansion(file *ast.File) {
	e := &expander{defs: map[string][]ast.Node{}, memo: map[string]int{}, open: map[string]bool{}}
	templates := 0
	ast.Walk(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok {
			if _, pattern := f.Label.(*ast.ListLit); pattern {
				templates++
			}
			if name, _, err := ast.LabelName(f.Label); err == nil {
				e.defs[name] = append(e.defs[name], f.Value)
			}
		}
		return true
	}, nil)
	size := e.weigh(file)
	switch {
	case e.cycle != nil:
		g.fail(e.cycle, fmt.Sprintf("%q refers to itself, or to another field of its name", clip(e.cycle.Name)), "write the value out, or use another name")
	case size > maxExpansion || size*templates > 5*maxExpansion:
		g.fail(file, fmt.Sprintf("references expand to more than %d values", maxExpansion), "write the values out")
	}
}

// expander estimates how many values a file has when references are written
// out, from above: every reference counts as all fields of that name.
type expander struct {
	defs  map[string][]ast.Node
	memo  map[string]int
	open  map[string]bool // names whose definitions are being weighed
	cycle *ast.Ident      // the first name found within its own definition
}

func (e *expander) weigh(n ast.Node) int {
	total := 0
	ast.Walk(n, func(n ast.Node) bool {
		total = min(total+1, maxExpansion+1)
		switch n := n.(type) {
		case *ast.Field:
			total = min(total+e.weigh(n.Value), maxExpansion+1)
			return false
		case *ast.SelectorExpr:
			total = min(total+e.weigh(n.X), maxExpansion+1)
			return false
		case *ast.Ident:
			total = min(total+e.name(n), maxExpansion+1)
		}
		return true
	}, nil)
	return total
}

func (e *expander) name(id *ast.Ident) int {
	if w, ok := e.memo[id.Name]; ok {
		return w
	}
	if e.open[id.Name] {
		if e.cycle == nil {
			e.cycle = id
		}
		return 0
	}
	e.open[id.Name] = true
	w := 0
	for _, def := range e.defs[id.Name] {
		w = min(w+e.weigh(def), maxExpansion+1)
	}
	delete(e.open, id.Name)
	e.memo[id.Name] = w
	return w
}
