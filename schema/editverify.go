package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// verify reads the result back: exactly the changes, which are canonical, must
// have happened.
func (f *File) verify(out []byte, changes []Change) error {
	got, problems := Load(f.Name, out)
	if got == nil {
		return fmt.Errorf("the edited file would be invalid in %s: %w", cmp.Or(problems[0].Path, "its syntax"), problems[0])
	}
	path, want, is, same := difference(f.with(changes).facts(), got.facts(), nil)
	if same {
		return nil
	}
	return fmt.Errorf("%s: the edit would make %s %s instead of %s; edit the file by hand", f.Pos(path...), joinPath(path), is, want)
}

// with returns the file as it is to be after the changes.
func (f *File) with(changes []Change) *File {
	want := *f
	want.Bulkheads = slices.Clone(f.Bulkheads)
	for _, c := range changes {
		i := slices.IndexFunc(want.Bulkheads, func(b Bulkhead) bool { return b.Name == c.Bulkhead })
		if c.Permits != nil {
			want.Bulkheads[i].Permits = c.Permits
		}
		if c.Traffic != nil {
			want.Bulkheads[i].Traffic = c.Traffic
		}
	}
	return &want
}

// facts is all that a File says.
func (f *File) facts() any {
	c := *f
	c.Source = nil
	return factsOf(c)
}

// factsOf is what a part of the model says, as JSON has it: numbers as text, so
// that none is rounded.
func factsOf(part any) any {
	text, err := json.Marshal(part)
	if err != nil {
		return err // differs from everything, itself included
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err
	}
	return v
}

// difference returns the first place where two values differ, in the words of
// the file, and what they are there.
func difference(want, is any, path []string) (at []string, wantText, isText string, same bool) {
	switch want := want.(type) {
	case map[string]any:
		is, ok := is.(map[string]any)
		if !ok || len(is) != len(want) {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if at, w, i, same := difference(want[key], is[key], append(slices.Clip(path), fileWord(key))); !same {
				return at, w, i, false
			}
		}
		return nil, "", "", true
	case []any:
		is, ok := is.([]any)
		if !ok || len(is) != len(want) {
			break
		}
		for i := range want {
			if at, w, i, same := difference(want[i], is[i], append(slices.Clip(path), itemName(want[i], i))); !same {
				return at, w, i, false
			}
		}
		return nil, "", "", true
	case nil, bool, string, json.Number:
		if want == is {
			return nil, "", "", true
		}
	}
	return path, factText(want), factText(is), false
}

// itemName is the name of a pool or a bulkhead, and the index of what has none.
func itemName(item any, i int) string {
	if m, ok := item.(map[string]any); ok {
		if name, ok := m["Name"].(string); ok {
			return name
		}
	}
	return strconv.Itoa(i)
}

func factText(v any) string {
	text, err := json.Marshal(v)
	if err != nil || v == nil {
		return "nothing"
	}
	return clip(string(text))
}

// fileWord turns a name of the model into that of the file: PeakRPS is
// peak_rps. Names of the user's, labels among them, have no capitals to turn or
// only lead to a place nearby.
func fileWord(name string) string {
	var b strings.Builder
	before := ' '
	for _, r := range name {
		if unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return b.String()
}
