package schema

import (
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"
)

// emit writes a tree as CUE syntax. Values of which skip holds are left out.
func emit(n *node, skip map[*node]bool) ast.Expr {
	switch n.kind {
	case mapKind:
		x := &ast.StructLit{}
		for _, f := range n.fields {
			if !skip[f.value] {
				x.Elts = append(x.Elts, &ast.Field{Label: ast.NewStringLabel(f.key), Value: emit(f.value, skip)})
			}
		}
		return x
	case listKind:
		x := &ast.ListLit{}
		for _, item := range n.items {
			if !skip[item] {
				x.Elts = append(x.Elts, emit(item, skip))
			}
		}
		return x
	}
	return emitScalar(n)
}

func emitScalar(n *node) ast.Expr {
	switch n.kind {
	case boolKind:
		return ast.NewBool(n.text == "true")
	case numberKind:
		return emitNumber(n)
	case stringKind:
		return &ast.BasicLit{Kind: token.STRING, Value: literal.String.Quote(n.text)}
	}
	return ast.NewNull()
}

// emitNumber keeps whole numbers and others apart: 100.0 is no count.
func emitNumber(n *node) ast.Expr {
	text, negative := n.text, false
	if text != "" && text[0] == '-' {
		text, negative = text[1:], true
	}
	kind := token.FLOAT
	if n.whole {
		kind = token.INT
	}
	var x ast.Expr = &ast.BasicLit{Kind: kind, Value: text}
	if negative {
		x = &ast.UnaryExpr{Op: token.SUB, X: x}
	}
	return x
}
