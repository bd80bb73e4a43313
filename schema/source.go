package schema

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"unicode/utf8"
)

// maxSource is the largest file that is read, in bytes.
const maxSource = 4 << 20

// maxDepth is how deep values may be nested.
const maxDepth = 100

// What a file with more than that is told.
var (
	tooDeep = fmt.Sprintf("values are nested more than %d deep", maxDepth)
	tooMany = fmt.Sprintf("the file has more than %d values", maxSize)
)

var bom = []byte("\ufeff")

// source is a file's text, and where its lines start.
type source struct {
	name  string
	text  []byte
	lines []int // offsets of the first byte of each line
}

func newSource(name string, text []byte) *source {
	s := &source{name: name, text: text, lines: make([]int, 1, bytes.Count(text, []byte("\n"))+1)}
	for i, b := range text {
		if b == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// position turns a byte offset into line and column. A byte order mark is not
// a character of the first line, as in editors.
func (s *source) position(offset int) Position {
	offset = max(0, min(offset, len(s.text)))
	line := sort.SearchInts(s.lines, offset+1) - 1
	start := s.lines[line]
	if line == 0 && bytes.HasPrefix(s.text, bom) {
		start = min(len(bom), offset)
	}
	return Position{File: s.name, Line: line + 1, Column: utf8.RuneCount(s.text[start:offset]) + 1}
}

// problem is a problem of the file as a whole, at an offset.
func (s *source) problem(rule string, offset int, message, fix string) Problem {
	return Problem{Rule: rule, Pos: s.position(offset), Message: message, Fix: fix}
}

// body returns the text behind the byte order mark, and how long that is.
func (s *source) body() ([]byte, int) {
	if bytes.HasPrefix(s.text, bom) {
		return s.text[len(bom):], len(bom)
	}
	return s.text, 0
}

// refuse returns what no parser should be given: too much of it, not UTF-8, or
// with control characters in it.
func (s *source) refuse() []Problem {
	if len(s.text) > maxSource {
		return []Problem{s.problem(RuleSyntax, 0, fmt.Sprintf("the file has %d bytes; at most %d (4 MiB) are read", len(s.text), maxSource), "check that this is a bulkhead file")}
	}
	if i := invalidUTF8(s.text); i >= 0 {
		return []Problem{s.problem(RuleSyntax, i, fmt.Sprintf("byte 0x%02x is not UTF-8", s.text[i]), "save the file as UTF-8")}
	}
	if i := slices.IndexFunc(s.text, isControl); i >= 0 {
		return []Problem{s.problem(RuleSyntax, i, fmt.Sprintf("control character 0x%02x", s.text[i]), "remove it; only tabs and line breaks are allowed")}
	}
	if body, _ := s.body(); len(bytes.TrimSpace(body)) == 0 {
		return []Problem{s.empty()}
	}
	return nil
}

func (s *source) empty() Problem {
	return s.problem(RuleSyntax, 0, "the file is empty", "write at least version, service, pools and bulkheads; see `bhsize schema`")
}

func isControl(b byte) bool {
	return b < ' ' && b != '\t' && b != '\n' && b != '\r' || b == 0x7f
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}
