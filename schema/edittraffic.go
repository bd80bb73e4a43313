package schema

import (
	"bytes"
	"slices"
)

// traffic changes an existing traffic mapping field by field.
func (e *editor) traffic(f *field, t *Traffic) error {
	var kept *field // the last field that stays, in the order of the schema
	var missing []entry
	gone := map[string]bool{}
	wanted := e.style.traffic(t)
	for _, name := range trafficFields {
		i := slices.IndexFunc(wanted, func(w entry) bool { return w.key == name })
		old := f.value.field(name)
		switch {
		case i < 0:
			gone[name] = old != nil
		case old == nil:
			missing = append(missing, wanted[i])
		default:
			if err := e.flush(f, kept, missing); err != nil {
				return err
			}
			missing, kept = nil, old
			if err := e.update(old, wanted[i], t); err != nil {
				return err
			}
		}
	}
	if err := e.flush(f, kept, missing); err != nil {
		return err
	}
	return e.removeAll(f, gone)
}

// flush inserts fields behind the one that stays before them.
func (e *editor) flush(f, kept *field, missing []entry) error {
	if len(missing) == 0 {
		return nil
	}
	if err := e.editable(f); err != nil {
		return err
	}
	if kept != nil && !kept.merged {
		return e.insertAfter(f.value, kept, missing)
	}
	return e.insertInto(f, missing)
}

// update gives a field its new value, unless it has that already.
func (e *editor) update(old *field, w entry, t *Traffic) error {
	if sameTraffic(old, t) {
		return nil
	}
	if old.key != "p99_bounds" {
		return e.replace(old, unquote(w.value))
	}
	if err := e.editable(old); err != nil {
		return err
	}
	for i, item := range old.value.items {
		if item.shared {
			return e.refuse(item.at, "the bound comes from an alias, or is aliased elsewhere")
		}
		if d := asDuration(item); d != nil && d.Cmp(t.P99Bounds[i]) == 0 {
			continue
		}
		if err := e.replaceScalar(item, unquote(e.style.duration(t.P99Bounds[i]))); err != nil {
			return err
		}
	}
	return nil
}

// sameTraffic says whether a field has the value that t gives it.
func sameTraffic(old *field, t *Traffic) bool {
	now := decodeTraffic(&node{kind: mapKind, fields: []field{*old}})
	want := &Traffic{}
	switch old.key {
	case "peak_rps":
		want.PeakRPS = t.PeakRPS
	case "p99":
		want.P99 = t.P99
	case "p99_bounds":
		want.P99Bounds = t.P99Bounds
	case "mean":
		want.Mean = t.Mean
	case "level":
		want.Level = t.Level
	case "calls":
		want.Calls = t.Calls
	case "attempts_per_call":
		want.AttemptsPerCall = t.AttemptsPerCall
	case "rejected":
		want.Rejected = t.Rejected
	case "measured":
		want.Measured = t.Measured
	case "window":
		want.Window = t.Window
	}
	_, _, _, same := difference(factsOf(want), factsOf(now), nil)
	return same
}

// removeAll takes fields out of a mapping. In flow style those at the end go
// together with the comma that separates them from the last that stays.
func (e *editor) removeAll(parent *field, gone map[string]bool) error {
	tail := len(parent.value.fields)
	for parent.value.flow && tail > 0 && gone[parent.value.fields[tail-1].key] {
		tail--
	}
	for i := range parent.value.fields {
		f := &parent.value.fields[i]
		if !gone[f.key] {
			continue
		}
		for _, x := range []*field{parent, f} {
			if err := e.editable(x); err != nil {
				return err
			}
		}
		if i >= tail && tail > 0 {
			return e.removeTail(&parent.value.fields[tail-1], &parent.value.fields[len(parent.value.fields)-1])
		}
		if err := e.remove(parent, f); err != nil {
			return err
		}
	}
	return nil
}

// removeTail removes what lies behind one field up to the end of another.
func (e *editor) removeTail(kept, last *field) error {
	start, ok := e.valueEnd(kept.value)
	end, ok2 := e.valueEnd(last.value)
	if !ok || !ok2 || start > end {
		return e.refuse(last.value.at, "%s cannot be removed", last.key)
	}
	if between := e.src.text[start:end]; bytes.ContainsRune(between, '#') || bytes.Contains(between, []byte("//")) {
		return e.refuse(last.at, "%s cannot be removed without the comment beside it", last.key)
	}
	e.splice(start, end, "")
	return nil
}

// remove takes a field out of a mapping: its lines where it has them for
// itself, otherwise itself and the comma behind it.
func (e *editor) remove(parent, f *field) error {
	end, ok := e.valueEnd(f.value)
	if !ok {
		return e.refuse(f.value.at, "%s cannot be removed", f.key)
	}
	start := f.at
	if parent.value.flow {
		end = e.pastComma(end)
	}
	if lineStart := e.lineStart(start); isBlank(e.src.text[lineStart:start]) {
		if next, alone := e.restOfLine(end, !parent.value.flow); alone {
			start, end = lineStart, next
		}
	}
	e.splice(start, end, "")
	return nil
}

// pastComma returns the offset behind the comma that follows, and the spaces
// behind that.
func (e *editor) pastComma(at int) int {
	text := e.src.text
	i := at
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	if i == len(text) || text[i] != ',' {
		return at
	}
	for i++; i < len(text) && (text[i] == ' ' || text[i] == '\t'); {
		i++
	}
	return i
}
