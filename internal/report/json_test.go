package report

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestEveryFieldIsDocumented holds docs/json.md against the structs, both ways.
func TestEveryFieldIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	fields := tags(reflect.TypeFor[document](), nil)
	fields = tags(reflect.TypeFor[sizeJSON](), fields)
	if len(fields) < 60 {
		t.Fatalf("found only %d fields: is the walk still right?", len(fields))
	}
	for _, name := range fields {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/json.md does not mention `%s`", name)
		}
	}
	for _, name := range documented(string(text)) {
		if !slices.Contains(fields, name) {
			t.Errorf("docs/json.md documents `%s`, which no longer exists", name)
		}
	}
}

// tags collects the JSON names of a type, of everything below it, once each.
func tags(t reflect.Type, into []string) []string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return tags(t.Elem(), into)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && !slices.Contains(into, name) {
				into = append(into, name)
			}
			into = tags(f.Type, into)
		}
	}
	return into
}

// documented returns what the first column of the tables names.
func documented(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if !strings.HasPrefix(line, "| `") || len(cells) < 3 {
			continue
		}
		for i, part := range strings.Split(cells[1], "`") {
			if i%2 == 1 {
				all = append(all, part)
			}
		}
	}
	return all
}

func TestUnknownIsNull(t *testing.T) {
	nan := float64NaN()
	if sig(&nan) != nil || sig(nil) != nil || rat(nil) != nil || stamp(zeroTime()) != nil || count(0) != nil || text("") != nil {
		t.Error("NaN, nil, no time, no count and no text must all be null")
	}
	x := 0.123456789
	if got := *sig(&x); got != 0.123457 {
		t.Errorf("sig = %v, want 6 significant digits", got)
	}
}
