package schema_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bhsize/bhsize/schema"
)

func seeds(f *testing.F) {
	f.Helper()
	for _, folder := range []string{"valid", "invalid"} {
		for _, path := range files(f, folder) {
			src, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(filepath.Ext(path), src)
		}
	}
}

// FuzzLoad holds that no input panics, and that every problem has a position
// within the file, a message and a fix.
func FuzzLoad(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, ext string, src []byte) {
		file, problems := schema.Load("fuzz"+ext, src)
		for _, p := range problems {
			wellFormed(t, src, p)
		}
		if (file != nil) != budgetOnly(problems) {
			t.Errorf("File is %v with problems %v", file != nil, problems)
		}
	})
}

// FuzzEdit holds that an edit is refused, or changes only what was asked, which
// Edit itself reads back, and that a second edit changes nothing.
func FuzzEdit(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, ext string, src []byte) {
		file, _ := schema.Load("fuzz"+ext, src)
		if file == nil {
			return
		}
		n := 2
		for i, b := range file.Bulkheads {
			if i < 3 {
				checkEdit(t, file, []schema.Change{{Bulkhead: b.Name, Permits: &n, Traffic: fullTraffic()}})
				checkEdit(t, file, []schema.Change{both(b.Name, 5)})
			}
		}
	})
}
