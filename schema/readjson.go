package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
)

// jsonReader turns the syntax tree of JSON into nodes.
type jsonReader struct {
	src      *source
	base     int // length of the byte order mark
	problems []Problem
}

func readJSON(src *source) (*node, []Problem) {
	body, base := src.body()
	r := &jsonReader{src: src, base: base}
	if p := scanJSON(src, body, base); p != nil {
		return nil, []Problem{*p}
	}
	if p := jsonSyntax(src, body, base); p != nil {
		return nil, []Problem{*p}
	}
	expr, err := parser.ParseExpr(src.name, body) // JSON is CUE but for escapes in text
	if err != nil {
		return nil, []Problem{src.problem(RuleSyntax, 0, "not valid JSON: "+clip(err.Error()), "correct the JSON")}
	}
	root := r.read(expr)
	return root, r.problems
}

// jsonSyntax returns what is wrong with the JSON, nil where nothing is.
func jsonSyntax(src *source, body []byte, base int) *Problem {
	var raw json.RawMessage
	err := json.Unmarshal(body, &raw)
	if err == nil {
		return nil
	}
	at, text := len(body), err.Error()
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		at = max(0, int(syntax.Offset)-1)
	}
	p := src.problem(RuleSyntax, base+at, "not valid JSON: "+clip(text), "correct the JSON; comments and trailing commas are YAML or CUE")
	return &p
}

// scanJSON refuses, byte by byte, what a tree should not be built of: brackets
// nested too deep, or too many values.
func scanJSON(src *source, text []byte, base int) *Problem {
	depth, values, opened := 0, 1, false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
			continue
		case '"':
			i = endOfString(text, i)
		case '{', '[':
			depth, values, opened = depth+1, values+1, true
			if depth > maxDepth {
				p := src.problem(RuleSyntax, base+i, tooDeep, "flatten the file")
				return &p
			}
			continue
		case '}', ']':
			if depth--; opened { // nothing was in it
				values--
			}
		case ',', ':':
			values++
		}
		opened = false
		if values > maxSize {
			p := src.problem(RuleRange, base+i, tooMany, "split the file")
			return &p
		}
	}
	return nil
}

// endOfString returns the offset of the quote that ends the string at i, or of
// the last byte where none does.
func endOfString(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return min(i, len(text)-1)
}

func (r *jsonReader) read(x ast.Expr) *node {
	n := &node{at: r.base + x.Pos().Offset(), flow: true, size: 1}
	switch x := x.(type) {
	case *ast.StructLit:
		n.kind = mapKind
		r.fields(n, x)
	case *ast.ListLit:
		n.kind = listKind
		for _, item := range x.Elts {
			child := r.read(item)
			n.items = append(n.items, child)
			n.size = saturated(n.size + child.size)
		}
	case *ast.UnaryExpr:
		if lit, ok := x.X.(*ast.BasicLit); ok {
			setNumber(n, x.Op.String()+lit.Value)
		}
	case *ast.BasicLit:
		setLiteral(n, x, jsonText)
	}
	return n
}

// jsonText returns the text that a JSON string stands for.
func jsonText(literal string) string {
	var text string
	if err := json.Unmarshal([]byte(literal), &text); err != nil {
		return literal // cannot be: the whole file is valid JSON
	}
	return text
}

func (r *jsonReader) fields(n *node, x *ast.StructLit) {
	seen := map[string]int{}
	for _, decl := range x.Elts {
		if len(r.problems) >= maxProblems {
			return
		}
		f, ok := decl.(*ast.Field)
		if !ok {
			continue
		}
		label, ok := f.Label.(*ast.BasicLit)
		if !ok {
			continue
		}
		key := jsonText(label.Value)
		at := r.base + f.Label.Pos().Offset()
		if first, ok := seen[key]; ok {
			pos := r.src.position(first)
			r.problems = append(r.problems, r.src.problem(RuleDuplicateKey, at, fmt.Sprintf("key %q is there twice; the first is on line %d, column %d", clip(key), pos.Line, pos.Column), "keep one of the two"))
			continue
		}
		seen[key] = at
		n.add(field{key: key, at: at, value: r.read(f.Value)})
	}
}

// setLiteral makes n the scalar that a literal stands for.
func setLiteral(n *node, x *ast.BasicLit, unquote func(string) string) {
	switch x.Kind {
	case token.INT, token.FLOAT:
		setNumber(n, x.Value)
	case token.TRUE, token.FALSE:
		n.kind, n.text = boolKind, x.Value
	case token.STRING:
		n.kind, n.text = stringKind, strings.ToValidUTF8(unquote(x.Value), "\ufffd")
	}
}
