package schema

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Load reads a bulkhead file as YAML, JSON or CUE by the extension of its name
// (.yaml, .yml, .json, .cue), as YAML otherwise. The problems are all that are
// wrong with it, in the order of their positions. The File is nil where it
// cannot be used; a file that only breaks its budget can.
func Load(name string, src []byte) (*File, []Problem) {
	s := newSource(name, src)
	if problems := s.refuse(); len(problems) > 0 {
		return nil, sorted(problems)
	}
	format := formatOf(name)
	root, problems := read(s, format)
	if len(problems) > 0 {
		return nil, sorted(problems)
	}
	if root.size > maxSize {
		return nil, []Problem{s.problem(RuleRange, root.at, tooMany+", its aliases written out", "split the file, or check its aliases")}
	}
	problems = append(validate(s, format, root), compare(s, format, root)...)
	if slices.ContainsFunc(problems, func(p Problem) bool { return p.Rule != RuleOvercommit }) {
		return nil, sorted(problems)
	}
	f := decode(root)
	f.Name, f.Source, f.Format, f.tree, f.src = name, src, format, root, s
	return f, sorted(problems)
}

// LoadFile reads a file from disk, with ReadFile. The error says that the path
// cannot be read; what is wrong inside the file is a problem.
func LoadFile(path string) (*File, []Problem, error) {
	src, err := ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	f, problems := Load(path, src)
	return f, problems, nil
}

func formatOf(name string) Format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return FormatJSON
	case ".cue":
		return FormatCUE
	}
	return FormatYAML
}

func read(s *source, format Format) (*node, []Problem) {
	switch format {
	case FormatJSON:
		return readJSON(s)
	case FormatCUE:
		return readCUE(s)
	}
	return readYAML(s)
}

// sorted orders problems by position, and makes their texts fit to print.
func sorted(problems []Problem) []Problem {
	for i, p := range problems {
		problems[i].Message, problems[i].Fix = printable(p.Message), printable(p.Fix)
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule))
	})
	return problems
}

// printable escapes what a terminal would act on, and keeps a text in
// proportion: names and values of the user's file are part of it.
func printable(s string) string {
	const most = 500
	var b strings.Builder
	for i, r := range []rune(s) {
		switch {
		case i >= most:
			return b.String() + "..."
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}
