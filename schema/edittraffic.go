package schema

import "slices"

// traffic changes an existing traffic mapping field by field.
func (e *editor) traffic(f *field, t *Traffic) error {
	wanted := e.style.traffic(t)
	var kept *field // the last field that stays, in the order of the schema
	var missing []entry
	for _, name := range trafficFields {
		i := slices.IndexFunc(wanted, func(w entry) bool { return w.key == name })
		old := f.value.field(name)
		switch {
		case i < 0 && old == nil:
		case i < 0:
			if err := e.remove(f, old); err != nil {
				return err
			}
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
	return e.flush(f, kept, missing)
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
	case "measured":
		want.Measured = t.Measured
	case "window":
		want.Window = t.Window
	}
	a, b := File{Bulkheads: []Bulkhead{{Traffic: now}}}, File{Bulkheads: []Bulkhead{{Traffic: want}}}
	return a.fingerprint() == b.fingerprint()
}

// remove takes a field out of a mapping: its lines where it has them for
// itself, otherwise itself and one comma.
func (e *editor) remove(parent, f *field) error {
	if err := e.editable(parent); err != nil {
		return err
	}
	if err := e.editable(f); err != nil {
		return err
	}
	end, ok := e.valueEnd(f.value)
	if !ok {
		return e.refuse(f.value.at, "%s cannot be removed", f.key)
	}
	start := f.at
	if parent.value.flow {
		start, end = e.withComma(start, end)
	}
	if lineStart := e.lineStart(start); isBlank(e.src.text[lineStart:start]) {
		if next, alone := e.restOfLine(end, !parent.value.flow); alone {
			start, end = lineStart, next
		}
	}
	e.splice(start, end, "")
	return nil
}

// withComma widens a span in flow style by the comma after it, or before it.
func (e *editor) withComma(start, end int) (int, int) {
	text := e.src.text
	i := end
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	if i < len(text) && text[i] == ',' {
		end = i + 1
		for end < len(text) && (text[end] == ' ' || text[end] == '\t') {
			end++
		}
		return start, end
	}
	i = start
	for i > 0 && isSpace(text[i-1]) {
		i--
	}
	if i > 0 && text[i-1] == ',' {
		return i - 1, end
	}
	return start, end
}
