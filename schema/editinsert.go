package schema

import (
	"bytes"
	"strings"
)

// entry is a key and the text of its value.
type entry struct{ key, value string }

// insertInto puts entries at the front of a mapping: on lines of their own
// right below its key in block style, behind the brace in flow style.
func (e *editor) insertInto(f *field, entries []entry) error {
	n := f.value
	switch {
	case n.kind == nullKind:
		return e.fillNull(f, entries)
	case n.kind != mapKind || n.shared:
		return e.refuse(n.at, "%s is not a mapping written in place", clip(f.key))
	case n.flow:
		return e.insertFlow(n, entries)
	}
	if p := n.field("permits"); p != nil && !p.merged {
		return e.insertAfter(n, p, entries)
	}
	return e.insertBlock(f, entries)
}

// fillNull gives a key without a value its mapping.
func (e *editor) fillNull(f *field, entries []entry) error {
	if f.value.tagged {
		return e.refuse(f.at, "%s has an anchor or a tag and no value", clip(f.key))
	}
	text := e.style.mapping(entries)
	if start, end, ok := e.scalarSpan(f.value); ok && isNullText(string(e.src.text[start:end])) {
		e.splice(start, end, text)
		return nil
	}
	colon, ok := e.colonAfter(f)
	if !ok {
		return e.refuse(f.at, "%s is not a plain key", clip(f.key))
	}
	e.splice(colon+1, colon+1, " "+text)
	return nil
}

func isNullText(s string) bool {
	return s == "~" || strings.EqualFold(s, "null")
}

// colonAfter returns the offset of the colon behind a one-line key.
func (e *editor) colonAfter(f *field) (int, bool) {
	text := e.src.text
	i := f.at
	if i < len(text) && (text[i] == '"' || text[i] == '\'') {
		end, ok := quotedEnd(text, i)
		if !ok {
			return 0, false
		}
		i = end
	} else {
		if !bytes.HasPrefix(text[i:], []byte(f.key)) {
			return 0, false
		}
		i += len(f.key)
	}
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i, i < len(text) && text[i] == ':'
}

// insertFlow puts entries before the first key, or between empty braces. A
// first key on a line of its own gets company of the same indentation.
func (e *editor) insertFlow(n *node, entries []entry) error {
	if n.at >= len(e.src.text) || e.src.text[n.at] != '{' {
		return e.refuse(n.at, "the mapping does not start with a brace")
	}
	if p := n.field("permits"); p != nil && !p.merged && e.ownFields(n) > 0 {
		return e.insertAfter(n, p, entries)
	}
	i := n.at + 1
	for i < len(e.src.text) && isSpace(e.src.text[i]) {
		i++
	}
	if i < len(e.src.text) && e.src.text[i] == '}' {
		e.splice(n.at+1, n.at+1, e.style.join(entries, ", "))
		return nil
	}
	if lineStart := e.lineStart(i); lineStart > n.at && isBlank(e.src.text[lineStart:i]) {
		sep := "," + e.eol(n.at) + string(e.src.text[lineStart:i])
		e.splice(i, i, e.style.join(entries, sep)+sep)
		return nil
	}
	e.splice(n.at+1, n.at+1, string(e.src.text[n.at+1:i])+e.style.join(entries, ", ")+",")
	if i == n.at+1 {
		e.splice(i, i, " ")
	}
	return nil
}

func (e *editor) ownFields(n *node) int {
	count := 0
	for _, f := range n.fields {
		if !f.merged {
			count++
		}
	}
	return count
}

// insertBlock puts entries on the lines right below a mapping's key.
func (e *editor) insertBlock(f *field, entries []entry) error {
	n := f.value
	start := e.lineStart(n.at)
	indent := e.src.text[start:n.at]
	below := e.lineEnd(f.at)
	if !isBlank(indent) || below > start {
		return e.refuse(n.at, "the first key of %s is not on a line of its own", clip(f.key))
	}
	eol := e.eol(f.at)
	e.splice(below, below, string(indent)+e.style.join(entries, eol+string(indent))+eol)
	return nil
}

// insertAfter puts entries behind a field.
func (e *editor) insertAfter(n *node, f *field, entries []entry) error {
	end, ok := e.valueEnd(f.value)
	if !ok || f.value.shared && f.value.kind > stringKind {
		return e.refuse(f.value.at, "nothing can be inserted behind %s", f.key)
	}
	lineStart := e.lineStart(f.at)
	indent := string(e.src.text[lineStart:f.at])
	if n.flow {
		sep := ", "
		if e.file.Format == FormatJSON && isBlank([]byte(indent)) {
			sep = "," + e.eol(f.at) + indent
		}
		e.splice(end, end, sep+e.style.join(entries, sep))
		return nil
	}
	if !isBlank([]byte(indent)) {
		return e.refuse(f.at, "%s is not on a line of its own", f.key)
	}
	eol := e.eol(f.at)
	next, _ := e.restOfLine(end, true)
	text := indent + e.style.join(entries, eol+indent)
	if next == len(e.src.text) && (next == 0 || e.src.text[next-1] != '\n') {
		e.splice(next, next, eol+text)
		return nil
	}
	e.splice(next, next, text+eol)
	return nil
}
