package schema

import (
	"strconv"
	"strings"
	"sync"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"
)

// shape is what the schema says about one place in a file: the fields that a
// mapping may have, the elements of a list, or the definition of a scalar.
type shape struct {
	def     string       // #Duration; the definition that a value is checked against
	known   []shapeField // in the order of the schema
	any     *shape       // what a mapping with free names holds
	elem    *shape
	atLeast int // entries that a mapping with free names must have
	atMost  int // and may have, as may a list; 0: no limit
	null    bool
	pos     token.Pos
	expect  string // what is allowed, in words
	fix     string
}

type shapeField struct {
	name     string
	required bool
	shape    *shape
	pos      token.Pos
}

func (s *shape) isMap() bool { return s.known != nil || s.any != nil }

func (s *shape) fieldNamed(name string) *shapeField {
	for i := range s.known {
		if s.known[i].name == name {
			return &s.known[i]
		}
	}
	return nil
}

// rootShape is read off the schema's own syntax, so that there is one list of
// fields. Only the forms that bulkhead.cue uses are understood.
var rootShape = sync.OnceValue(func() *shape {
	b := &shapeBuilder{defs: map[string]*ast.Field{}, done: map[string]*shape{}}
	for _, decl := range schemaAST().Decls {
		if f, ok := decl.(*ast.Field); ok {
			if name, _, err := ast.LabelName(f.Label); err == nil {
				b.defs[name] = f
			}
		}
	}
	return b.def("#Shape")
})

type shapeBuilder struct {
	defs map[string]*ast.Field
	done map[string]*shape
}

func (b *shapeBuilder) def(name string) *shape {
	if s := b.done[name]; s != nil {
		return s
	}
	f := b.defs[name]
	s := &shape{def: name, pos: f.Pos()}
	b.done[name] = s
	for _, attr := range f.Attrs {
		s.expect, s.fix = expectation(attr)
	}
	b.fill(s, f.Value)
	return s
}

// expectation splits @expect("what is allowed", "what to do").
func expectation(attr *ast.Attribute) (expect, fix string) {
	_, body := attr.Split()
	first, err := strconv.QuotedPrefix(body)
	if err != nil {
		return body, ""
	}
	expect, _ = strconv.Unquote(first)
	fix, _ = strconv.Unquote(strings.TrimLeft(body[len(first):], ", "))
	return expect, fix
}

// fill adds to s what an expression says.
func (b *shapeBuilder) fill(s *shape, x ast.Expr) {
	switch x := x.(type) {
	case *ast.Ident:
		if b.defs[x.Name] != nil {
			s.adopt(b.def(x.Name))
		}
	case *ast.ParenExpr:
		b.fill(s, x.X)
	case *ast.BinaryExpr:
		b.fill(s, x.X)
		b.fill(s, x.Y)
	case *ast.CallExpr:
		b.call(s, x)
	case *ast.BasicLit:
		s.null = s.null || x.Kind == token.NULL
	case *ast.ListLit:
		b.list(s, x)
	case *ast.StructLit:
		b.fields(s, x)
	}
}

// call understands struct.MinFields(n), struct.MaxFields(n) and list.MaxItems(n).
func (b *shapeBuilder) call(s *shape, x *ast.CallExpr) {
	fun, ok := x.Fun.(*ast.SelectorExpr)
	if !ok || len(x.Args) != 1 {
		return
	}
	name, _, _ := ast.LabelName(fun.Sel)
	lit, ok := x.Args[0].(*ast.BasicLit)
	if !ok {
		return
	}
	n, _ := strconv.Atoi(lit.Value)
	switch name {
	case "MinFields":
		s.atLeast = n
	case "MaxFields", "MaxItems":
		s.atMost = n
	}
}

// adopt takes over the shape of an alternative that is a definition of its own.
func (s *shape) adopt(o *shape) {
	s.known, s.any, s.elem = append(s.known, o.known...), firstShape(s.any, o.any), firstShape(s.elem, o.elem)
	s.atLeast, s.atMost, s.null = max(s.atLeast, o.atLeast), max(s.atMost, o.atMost), s.null || o.null
}

func firstShape(a, b *shape) *shape {
	if a != nil {
		return a
	}
	return b
}

// list reads the elements of a list; one without an ellipsis is as long as it
// is written.
func (b *shapeBuilder) list(s *shape, x *ast.ListLit) {
	isOpen := false
	for _, e := range x.Elts {
		if dots, ok := e.(*ast.Ellipsis); ok {
			e, isOpen = dots.Type, true
		}
		s.elem = b.expr(e)
	}
	if !isOpen {
		s.atMost = len(x.Elts)
	}
}

func (b *shapeBuilder) fields(s *shape, x *ast.StructLit) {
	for _, decl := range x.Elts {
		f, ok := decl.(*ast.Field)
		if !ok {
			continue
		}
		if _, pattern := f.Label.(*ast.ListLit); pattern {
			s.any = b.expr(f.Value)
			continue
		}
		name, _, err := ast.LabelName(f.Label)
		if err != nil {
			continue
		}
		s.known = append(s.known, shapeField{name: name, required: f.Constraint == token.NOT, shape: b.expr(f.Value), pos: f.Pos()})
	}
}

// expr returns the shape of an expression: a definition's own, or one made up
// of the parts.
func (b *shapeBuilder) expr(x ast.Expr) *shape {
	if id, ok := x.(*ast.Ident); ok && b.defs[id.Name] != nil {
		return b.def(id.Name)
	}
	s := &shape{pos: x.Pos()}
	b.fill(s, x)
	return s
}
