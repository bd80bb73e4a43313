package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// yamlReader turns YAML nodes into nodes.
type yamlReader struct {
	src      *source
	marks    *yamlMarks
	done     map[*yaml.Node]*node
	open     map[*yaml.Node]bool // being read: an alias to one of them is a cycle
	merged   int                 // fields that merge keys brought
	problems []Problem
}

// readYAML reads a stream of one document.
func readYAML(src *source) (*node, []Problem) {
	if p := scanYAML(src); p != nil {
		return nil, []Problem{*p}
	}
	dec := yaml.NewDecoder(bytes.NewReader(src.text))
	var doc, next yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, []Problem{src.empty()}
	} else if err != nil {
		return nil, []Problem{yamlSyntax(src, err)}
	}
	r := &yamlReader{src: src, marks: newYAMLMarks(src.text), done: map[*yaml.Node]*node{}, open: map[*yaml.Node]bool{}}
	switch err := dec.Decode(&next); {
	case err == nil:
		return nil, []Problem{src.problem(RuleSyntax, r.marks.offset(&next), "a second document starts here; a bulkhead file is one document", "move it into a file of its own, or remove the --- line")}
	case !errors.Is(err, io.EOF):
		return nil, []Problem{yamlSyntax(src, err)}
	}
	root := r.read(doc.Content[0], 0)
	if r.merged > maxSize {
		root.size = maxSize + 1 // Load refuses it
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	markAnchored(doc.Content[0], r.done)
	return root, nil
}

func (r *yamlReader) fail(y *yaml.Node, rule, message, fix string) *node {
	r.problems = append(r.problems, r.src.problem(rule, r.marks.offset(y), message, fix))
	return &node{kind: nullKind, size: 1}
}

func (r *yamlReader) read(y *yaml.Node, depth int) *node {
	switch {
	case r.done[y] != nil:
		return r.done[y]
	case r.open[y]:
		return r.fail(y, RuleSyntax, fmt.Sprintf("anchor %q contains itself", clip(y.Anchor)), "write the value out")
	case depth > maxDepth:
		return r.fail(y, RuleSyntax, tooDeep, "flatten the file")
	case len(r.problems) > 20:
		return &node{size: 1}
	}
	r.open[y] = true
	n := r.value(y, depth)
	delete(r.open, y)
	r.done[y] = n
	return n
}

func (r *yamlReader) value(y *yaml.Node, depth int) *node {
	n := &node{at: r.marks.content(y), flow: y.Style&yaml.FlowStyle != 0, tagged: y.Anchor != "" || y.Style&yaml.TaggedStyle != 0, size: 1}
	switch y.Kind {
	case yaml.AliasNode:
		target := *r.read(y.Alias, depth+1)
		target.at, target.shared = n.at, true
		return &target
	case yaml.SequenceNode:
		n.kind = listKind
		for _, item := range y.Content {
			child := r.read(item, depth+1)
			n.items = append(n.items, child)
			n.size = saturated(n.size + child.size)
		}
	case yaml.MappingNode:
		n.kind = mapKind
		r.mapping(n, y, depth)
	default:
		r.scalar(n, y)
	}
	return n
}

// mapping reads keys in order; what merge keys bring comes after them.
func (r *yamlReader) mapping(n *node, y *yaml.Node, depth int) {
	seen := map[string]*yaml.Node{}
	var merges []*yaml.Node
	for i := 0; i+1 < len(y.Content); i += 2 {
		if len(r.problems) >= maxProblems {
			return
		}
		k, v := y.Content[i], y.Content[i+1]
		key, ok := r.key(k)
		if !ok {
			continue
		}
		if first := seen[key]; first != nil {
			at := r.src.position(r.marks.offset(first))
			r.fail(k, RuleDuplicateKey, fmt.Sprintf("key %q is there twice; the first is on line %d, column %d", clip(key), at.Line, at.Column), "keep one of the two")
			continue
		}
		seen[key] = k
		if isMerge(k) {
			merges = append(merges, v)
			continue
		}
		n.add(field{key: key, at: r.marks.content(k), value: r.read(v, depth+1)})
	}
	for _, m := range merges {
		r.merge(n, m, seen, depth+1)
	}
}

// key returns the text of a key. Numbers and YAML 1.1 booleans are names too.
func (r *yamlReader) key(k *yaml.Node) (string, bool) {
	target := k
	if k.Kind == yaml.AliasNode {
		target = k.Alias
	}
	if target.Kind != yaml.ScalarNode {
		r.fail(k, RuleSyntax, "a key is a list or a mapping", "use text as the key")
		return "", false
	}
	if target.Style&yaml.TaggedStyle != 0 && target.ShortTag() != "!!str" {
		r.fail(k, RuleSyntax, fmt.Sprintf("a key has the tag %q", clip(target.Tag)), "remove the tag")
		return "", false
	}
	switch target.ShortTag() {
	case "!!null":
		return "null", true
	case "!!bool":
		return strings.ToLower(target.Value), true
	}
	return target.Value, true
}

func isMerge(k *yaml.Node) bool {
	return k.Kind == yaml.ScalarNode && k.Value == "<<" && k.ShortTag() == "!!merge"
}

// merge adds the fields of a mapping, or of a list of mappings, that are not there yet.
func (r *yamlReader) merge(n *node, m *yaml.Node, seen map[string]*yaml.Node, depth int) {
	from := r.read(m, depth)
	parts := []*node{from}
	if from.kind == listKind {
		parts = from.items
	}
	for _, part := range parts {
		if part.kind != mapKind {
			r.fail(m, RuleSyntax, "the merge key << brings in "+part.kind.String(), "merge a mapping, or a list of mappings")
			return
		}
		for _, f := range part.fields {
			if r.merged++; r.merged > maxSize {
				return
			}
			if seen[f.key] != nil {
				continue
			}
			seen[f.key], f.merged = m, true
			n.add(f)
		}
	}
}

func (r *yamlReader) scalar(n *node, y *yaml.Node) {
	n.text = y.Value
	switch tag := y.ShortTag(); tag {
	case "!!null":
		n.kind = nullKind
	case "!!bool":
		n.kind, n.text = boolKind, strings.ToLower(y.Value)
	case "!!int", "!!float":
		setNumber(n, y.Value)
	case "!!str", "!!timestamp", "!!merge":
		n.kind = stringKind
	default:
		r.fail(y, RuleSyntax, fmt.Sprintf("tag %q is not known", clip(tag)), "remove the tag")
	}
}

// markAnchored marks the values that other places of the file alias: to change
// one of them changes the other places too.
func markAnchored(y *yaml.Node, done map[*yaml.Node]*node) {
	aliased := map[*yaml.Node]bool{}
	var find, mark func(*yaml.Node)
	find = func(y *yaml.Node) {
		if y.Kind == yaml.AliasNode {
			aliased[y.Alias] = true
		}
		for _, c := range y.Content {
			find(c)
		}
	}
	mark = func(y *yaml.Node) {
		if n := done[y]; n != nil {
			n.shared = true
		}
		for _, c := range y.Content {
			mark(c)
		}
	}
	find(y)
	for a := range aliased {
		mark(a)
	}
}

// yamlMarks turns the parser's lines and columns into offsets. The parser
// counts characters, not bytes, and ends lines at CR, NEL, LS and PS too.
type yamlMarks struct {
	text  []byte
	lines []int // characters before each line
	every []int // offset of every 64th character: a long line is not walked for each of its values
}

// markStep is how many characters lie between two known offsets.
const markStep = 64

func newYAMLMarks(text []byte) *yamlMarks {
	m := &yamlMarks{text: text, lines: make([]int, 1, bytes.Count(text, []byte("\n"))+1), every: make([]int, 0, len(text)/markStep+1)}
	if bytes.HasPrefix(text, bom) {
		m.lines[0] = 1
	}
	chars := 0
	for i := 0; i < len(text); chars++ {
		if chars%markStep == 0 {
			m.every = append(m.every, i)
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		if r == '\r' && i < len(text) && text[i] == '\n' {
			continue
		}
		if slices.Contains([]rune{'\n', '\r', '\u0085', '\u2028', '\u2029'}, r) {
			m.lines = append(m.lines, chars+1)
		}
	}
	return m
}

// offset returns where a node starts, its anchor and tag included.
func (m *yamlMarks) offset(y *yaml.Node) int {
	if y.Line < 1 || y.Line > len(m.lines) {
		return len(m.text)
	}
	char := m.lines[y.Line-1] + max(0, y.Column-1)
	if char/markStep >= len(m.every) {
		return len(m.text)
	}
	i := m.every[char/markStep]
	for range char % markStep {
		_, size := utf8.DecodeRune(m.text[i:])
		i += size
	}
	return i
}

// content returns where a node's value starts, behind its anchor and tag.
func (m *yamlMarks) content(y *yaml.Node) int {
	i := m.offset(y)
	if y.Anchor == "" && y.Style&yaml.TaggedStyle == 0 || y.Kind == yaml.AliasNode {
		return i
	}
	for i < len(m.text) && (m.text[i] == '&' || m.text[i] == '!') {
		end := i
		for end < len(m.text) && !bytes.ContainsRune([]byte(" \t\r\n"), rune(m.text[end])) {
			end++
		}
		next := end + len(m.text[end:]) - len(bytes.TrimLeft(m.text[end:], " \t\r\n"))
		if next >= len(m.text) {
			return i
		}
		i = next
	}
	return i
}

// clip keeps a message in proportion to its cause.
func clip(s string) string {
	const most = 80
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "..."
}
