package schema

import (
	"strconv"
	"strings"
)

// joinPath writes a path as messages show it. A name that dots would confuse
// is in quotes: bulkheads."a.b".permits.
func joinPath(keys []string) string {
	quoted := make([]string, len(keys))
	for i, k := range keys {
		quoted[i] = k
		if k == "" || strings.ContainsAny(k, ". \t\"'") || strconv.Quote(k) != `"`+k+`"` {
			quoted[i] = strconv.Quote(k)
		}
	}
	return strings.Join(quoted, ".")
}

// nearest returns the offset of the value at a path, or of the nearest
// ancestor that the file has.
func (n *node) nearest(path []string) int {
	if n == nil {
		return 0
	}
	for _, key := range path {
		next := n.child(key)
		if next == nil {
			break
		}
		n = next
	}
	return n.at
}

// child returns a mapping's value or a list's item, nil where there is none.
func (n *node) child(key string) *node {
	if n.kind != listKind {
		return n.get(key)
	}
	i, err := strconv.Atoi(key)
	if err != nil || i < 0 || i >= len(n.items) {
		return nil
	}
	return n.items[i]
}

// Pos returns the position of the value at a path, such as "bulkheads",
// "payments", "permits", or of its nearest ancestor that the file has. Items of
// a list are named by their index, from "0".
func (f *File) Pos(path ...string) Position {
	return f.source().position(f.tree.nearest(path))
}

// KeyPos returns the position of the last key of a path, or of the value of
// the nearest ancestor that the file has.
func (f *File) KeyPos(path ...string) Position {
	if len(path) == 0 {
		return f.Pos()
	}
	parent := f.tree
	for _, key := range path[:len(path)-1] {
		if parent = parent.child(key); parent == nil {
			return f.Pos(path...)
		}
	}
	if field := parent.field(path[len(path)-1]); field != nil {
		return f.source().position(field.at)
	}
	return f.Pos(path...)
}

func (f *File) source() *source {
	if f.src == nil { // not made by Load
		return newSource(f.Name, f.Source)
	}
	return f.src
}
