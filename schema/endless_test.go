package schema_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bhsize/bhsize/schema"
)

// TestEndlessFilesAreRefusedAtOnce holds that no part of the syntax, however
// often it is repeated, makes Load overflow the stack, or take memory or time
// out of proportion. A stack overflow ends the whole test.
func TestEndlessFilesAreRefusedAtOnce(t *testing.T) {
	type repeated struct{ before, unit, after string }
	cue := []repeated{
		{"", "a: ", "1"}, {"", "a?: ", "1"}, {"", "a!: ", "1"}, {"", "[x]: ", "1"}, {"", "[string]: ", "1"}, {"", "a~b: ", "1"}, {"", "a: //c\n", "1"},
		{"", "a:\n", "1"}, {"", "a:,", "1"}, {"", "a: b=", "1"}, {"", "\"a\": {b: ", "1"}, {"", "\"\\(a)\": ", "1"}, {"", "(a): ", "1"}, {"", "let a = ", "1"},
		{"a: x", ".b", ""}, {"a: x", "?.b", ""}, {"a: x", "[0]", ""}, {"a: x", "?[0]", ""}, {"a: x", "()", ""}, {"a: x", "...", ""}, {"a: x", ".\n//c\nb", ""},
		{"a: ", "1+", "1"}, {"a: ", "1|", "1"}, {"a: ", "1&", "1"}, {"a: ", "1*", "1"}, {"a: ", "1 ==", "1"}, {"a: ", "1 && ", "1"}, {"a: ", "1//c\n+", "1"}, {"a: ", "1 div ", "1"}, {"a: ", "1+,", "1"},
		{"a: ", "!", "1"}, {"a: ", "-", "1"}, {"a: ", "*", "1"}, {"a: ", "<", "1"}, {"a: ", "=~", "1"}, {"a: ", "- //c\n", "1"}, {"a: ", "~", "1"},
		{"a: ", "(", ""}, {"a: ", "[", ""}, {"a: ", "{", ""}, {"a: ", "[}", ""}, {"a: ", "[},", ""}, {"", ")", ""}, {"a: ", "[1,", ""}, {"a: ", "f(", ""},
		{"a: ", "\"\\(", ""}, {"a: ", "'\\(", ""}, {"a: ", "#\"\\#(", ""}, {"a: ", "\"\"\"\n\\(", ""}, {"a: \"", "\\(1)", "\""}, {"a: ", "\"", ""}, {"a: ", "\"x\" ", ""},
		{"", "@a(", ""}, {"", "@a", ""}, {"a: 1 @a", "([{", ""}, {"a: 1 ", "@a(1) ", ""}, {"", "//c\n@a(", ""}, {"", "@a(\"\\(", ""},
		{"", "if a ", "{}"}, {"", "for a in b ", "{}"}, {"a: [", "if a ", "{}]"}, {"", "if a {", ""}, {"", "import ", ""}, {"", "package a\n", ""},
		{"", "a: 1\n", ""}, {"a: [", "1,", "]"}, {"a: [", "{},", "]"}, {"", "{},", ""}, {"", ";", ""}, {"", ".", ""}, {"", "/*", ""}, {"", "//", ""}, {"a: 1", "\n//c", ""}, {"", "$", ""}, {"", "a ", ""},
	}
	json := []repeated{
		{"", "[", ""}, {"", "{\"a\":", ""}, {"", "[{\"a\":", ""}, {"[", "1,", "1]"}, {"[", "[],", "1]"}, {"[", "{},", "1]"}, {"[", "\"a\",", "1]"}, {"{", "\"a\":1,", "\"b\":1}"}, {"[", "1\n,", "1]"},
		{"", "-", "1"}, {"", "1", ""}, {"", "a: ", "1"}, {"", "1+", "1"}, {"", "\"", ""}, {"[", "1 ", "]"}, {"\"", "\\\"", "\""}, {"", "]", ""}, {"", ",", ""}, {"", ":", ""},
	}
	yaml := []repeated{
		{"", "[", ""}, {"", "{a: ", ""}, {"[", "1,", "1]"}, {"[", "[],", "1]"}, {"{", "a,", "}"}, {"{", "\"a\":1,", "}"}, {"", "- 1\n", ""}, {"", "- ", ""}, {"", "-\n", ""}, {"", "? ", ""}, {"", "?\n", ""}, {"", "a: 1\n", ""},
		{"", "- - 1\n", ""}, {"", "--- a\n", ""}, {"", "-\u0085", ""}, {"[", "a: 1,", "]"}, {"", "!a ", "1"}, {"", "&a ", "1"}, {"", "'", ""}, {"a: 1", "\n", ""}, {"", "# x\n", "a: 1"}, {"", "a\n", ""},
	}
	sizes := []int{20 << 10, 200 << 10, 4<<20 - 64}
	if testing.Short() {
		sizes = sizes[:2]
	}
	for ext, all := range map[string][]repeated{".cue": cue, ".json": json, ".yaml": yaml} {
		for _, r := range all {
			for _, size := range sizes {
				refusedAtOnce(t, "endless"+ext, r.before+strings.Repeat(r.unit, size/len(r.unit))+r.after)
			}
		}
	}
}

// refusedAtOnce allows 10 seconds for a loaded machine, and for memory what a
// tree of all values takes; most take a hundredth of that.
func refusedAtOnce(t *testing.T, name, src string) {
	t.Helper()
	const mostTime, mostMemory = 10 * time.Second, 300 << 20
	what := name + " " + src[:min(20, len(src))]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f, problems := schema.Load(name, []byte(src))
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	if f != nil || len(problems) == 0 {
		t.Errorf("%q: want problems", what)
	}
	if took > mostTime || allocated > mostMemory {
		t.Errorf("%q of %d bytes: took %v and %d MiB", what, len(src), took, allocated>>20)
	}
	if testing.Verbose() && (took > 200*time.Millisecond || allocated > 50<<20) {
		t.Logf("%q of %d bytes: took %v and %d MiB: %.150v", what, len(src), took, allocated>>20, problems[0])
	}
}
