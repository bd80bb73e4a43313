package schema

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

// Change is what Edit is to write into one bulkhead. What is nil stays as it is.
// Of Traffic.Measured the file states the UTC day, so that is all that counts;
// numbers must have a finite decimal of at most 12 digits after the point.
type Change struct {
	Bulkhead string
	Permits  *int
	Traffic  *Traffic // replaces the whole of it: a field that is absent here is removed
}

// Edit returns the file's bytes with the changes in place and no other byte
// touched: comments, order, quotes, indentation and line ends stay, and a value
// that is already right is not rewritten. It refuses, with the position, what
// it cannot change without changing something else, such as a value that comes
// from an alias or a merge key, or a number that has no finite decimal, and then
// returns no bytes. The result is read back, and returned only if exactly the
// changes have happened.
func (f *File) Edit(changes []Change) ([]byte, error) {
	changes, err := f.canonical(changes)
	if err != nil {
		return nil, err
	}
	e := &editor{file: f, src: f.source(), style: styleOf(f.Format)}
	tree, err := e.tree()
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		if err := e.change(tree, c); err != nil {
			return nil, err
		}
	}
	out := e.apply()
	if err := f.verify(out, changes); err != nil {
		return nil, err
	}
	return out, nil
}

// tree returns the tree to edit: for CUE that of the syntax, not of the values.
func (e *editor) tree() (*node, error) {
	if e.file.Format == FormatCUE {
		return cueSyntaxTree(e.src)
	}
	return e.file.tree, nil
}

// editor collects what to splice into a file.
type editor struct {
	file    *File
	src     *source
	style   style
	splices []splice
}

// splice replaces the bytes from start to end.
type splice struct {
	start, end int
	text       string
}

func (e *editor) splice(start, end int, text string) {
	e.splices = append(e.splices, splice{start, end, text})
}

// apply builds the new text. Of several splices at one place the earlier comes
// first.
func (e *editor) apply() []byte {
	slices.SortStableFunc(e.splices, func(a, b splice) int { return a.start - b.start })
	var out bytes.Buffer
	at := 0
	for _, s := range e.splices {
		if s.start >= at {
			out.Write(e.src.text[at:s.start])
		}
		out.WriteString(s.text)
		at = max(at, s.end)
	}
	out.Write(e.src.text[at:])
	return out.Bytes()
}

// refuse is the error for a value that cannot be changed where it stands.
func (e *editor) refuse(at int, format string, args ...any) error {
	return fmt.Errorf("%s: %s; edit it by hand", e.src.position(at), fmt.Sprintf(format, args...))
}

func (e *editor) change(tree *node, c Change) error {
	bulkheads := tree.get("bulkheads")
	f := bulkheads.field(c.Bulkhead)
	if f == nil {
		return fmt.Errorf("%s: there is no bulkhead %q that can be edited in place; add it first", e.src.position(tree.nearest([]string{"bulkheads"})), clip(c.Bulkhead))
	}
	entries := e.missing(f.value, c)
	if err := e.existing(f, c); err != nil {
		return err
	}
	if len(entries) == 0 {
		return nil
	}
	if f.merged || f.value.shared {
		return e.refuse(f.value.at, "bulkhead %q %s", clip(c.Bulkhead), e.elsewhere(f))
	}
	return e.insertInto(f, entries)
}

// missing returns the entries that the bulkhead does not have yet.
func (e *editor) missing(n *node, c Change) []entry {
	var entries []entry
	if c.Permits != nil && n.get("permits") == nil {
		entries = append(entries, entry{"permits", strconv.Itoa(*c.Permits)})
	}
	if c.Traffic != nil && n.get("traffic") == nil {
		entries = append(entries, entry{"traffic", e.style.mapping(e.style.traffic(c.Traffic))})
	}
	return entries
}

// existing changes the fields that the bulkhead already has.
func (e *editor) existing(f *field, c Change) error {
	if p := f.value.field("permits"); p != nil && c.Permits != nil {
		if now := p.value.integer(); now == nil || *now != *c.Permits {
			if err := e.replace(p, strconv.Itoa(*c.Permits)); err != nil {
				return err
			}
		}
	}
	if t := f.value.field("traffic"); t != nil && c.Traffic != nil {
		return e.traffic(t, c.Traffic)
	}
	return nil
}

// editable refuses a value that is not written where it is used.
func (e *editor) editable(f *field) error {
	if f.merged || f.value.shared {
		return e.refuse(f.value.at, "%s %s", clip(f.key), e.elsewhere(f))
	}
	return nil
}

// elsewhere says why a value cannot be changed where it is used.
func (e *editor) elsewhere(f *field) string {
	switch {
	case e.file.Format == FormatCUE:
		return "is a reference or an expression, or stands in a chain without braces (a: b: c), which has no place for another field"
	case f.merged:
		return "comes from a merge key"
	}
	return "comes from an alias, or is aliased elsewhere, and would change there too"
}

// replace changes the text of a scalar, inside of its quotes where it has some.
func (e *editor) replace(f *field, text string) error {
	if err := e.editable(f); err != nil {
		return err
	}
	return e.replaceScalar(f.value, text)
}

func (e *editor) replaceScalar(n *node, text string) error {
	start, end, ok := e.scalarSpan(n)
	if !ok {
		return e.refuse(n.at, "the value is not on one line")
	}
	e.splice(start, end, text)
	return nil
}
