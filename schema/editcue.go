package schema

import (
	"fmt"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
)

// cueSyntaxTree returns the fields that a CUE file writes as plain literals.
// Everything else is marked as shared: it takes part in a value that is made
// elsewhere too, and cannot be edited.
func cueSyntaxTree(src *source) (*node, error) {
	body, base := src.body()
	file, err := parser.ParseFile(src.name, body)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", src.name, err)
	}
	t := &cueSyntax{base: base}
	root := &node{kind: mapKind, flow: true}
	t.fields(root, file.Decls)
	return root, nil
}

type cueSyntax struct{ base int }

func (t *cueSyntax) fields(n *node, decls []ast.Decl) {
	for _, decl := range decls {
		f, ok := decl.(*ast.Field)
		if !ok {
			continue
		}
		key, _, err := ast.LabelName(f.Label)
		if err != nil {
			continue
		}
		value := t.value(f.Value)
		if twin := n.field(key); twin != nil {
			twin.value.shared = true
			if twin.value.kind == mapKind && value.kind == mapKind {
				twin.value.fields = append(twin.value.fields, value.fields...)
			}
			continue
		}
		n.fields = append(n.fields, field{key: key, at: t.base + f.Label.Pos().Offset(), value: value})
	}
}

func (t *cueSyntax) value(x ast.Expr) *node {
	n := &node{at: t.base + x.Pos().Offset(), flow: true}
	switch x := x.(type) {
	case *ast.StructLit:
		n.kind, n.shared = mapKind, !x.Lbrace.IsValid()
		t.fields(n, x.Elts)
	case *ast.ListLit:
		n.kind = listKind
		for _, item := range x.Elts {
			n.items = append(n.items, t.value(item))
		}
	case *ast.BasicLit:
		setLiteral(n, x, cueText)
		n.shared = x.Kind == token.NULL
	default:
		n.kind, n.shared = stringKind, true
	}
	return n
}

func cueText(quoted string) string {
	text, err := literal.Unquote(quoted)
	if err != nil {
		return quoted
	}
	return text
}
