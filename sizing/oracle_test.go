package sizing

import (
	"encoding/csv"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// row is one line of an oracle file, by column.
type row struct {
	t      *testing.T
	name   string
	fields map[string]string
}

// oracle reads testdata/oracles/name.csv and fails where it has no rows.
func oracle(t *testing.T, name string) []row {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "testdata", "oracles", name+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(lines) < 2 {
		t.Fatalf("%s: no rows", name)
	}
	var rows []row
	for i, line := range lines[1:] {
		fields := map[string]string{}
		for j, column := range lines[0] {
			fields[column] = line[j]
		}
		rows = append(rows, row{t, name + ":" + strconv.Itoa(i+2), fields})
	}
	return rows
}

// text fails where the column is missing.
func (r row) text(column string) string {
	r.t.Helper()
	s, ok := r.fields[column]
	if !ok {
		r.t.Fatalf("%s: no column %q", r.name, column)
	}
	return s
}

func (r row) float(column string) float64 {
	r.t.Helper()
	x, err := strconv.ParseFloat(r.text(column), 64)
	if err != nil {
		r.t.Fatalf("%s: %s: %v", r.name, column, err)
	}
	return x
}

func (r row) int(column string) int {
	r.t.Helper()
	n, err := strconv.Atoi(r.text(column))
	if err != nil {
		r.t.Fatalf("%s: %s: %v", r.name, column, err)
	}
	return n
}

// rat reads a decimal or a fraction.
func (r row) rat(column string) *big.Rat {
	r.t.Helper()
	return rat(r.t, r.text(column))
}

func (r row) floats(column string) []float64 {
	r.t.Helper()
	return split(r, column, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
}

func (r row) ints(column string) []int {
	r.t.Helper()
	return split(r, column, strconv.Atoi)
}

func split[T any](r row, column string, parse func(string) (T, error)) []T {
	r.t.Helper()
	var all []T
	for s := range strings.SplitSeq(r.text(column), ";") {
		x, err := parse(s)
		if err != nil {
			r.t.Fatalf("%s: %s: %v", r.name, column, err)
		}
		all = append(all, x)
	}
	return all
}

// matches fails unless got is the column's value to so many significant digits.
// The files print fewer only where the rest is zeros.
func (r row) matches(column string, got float64, digits int) {
	r.t.Helper()
	want := r.float(column)
	if !near(got, want, digits) {
		r.t.Errorf("%s: %s is %.17g, want %s", r.name, column, got, r.text(column))
	}
}

// near says whether got rounds to want at so many significant digits, half a
// unit of the last one being the tolerance.
func near(got, want float64, digits int) bool {
	if want == 0 {
		return math.Abs(got) < 1e-15
	}
	exponent := math.Floor(math.Log10(math.Abs(want)))
	return math.Abs(got-want) <= 0.505*math.Pow(10, exponent-float64(digits-1))
}

// printed returns the significant digits that a number is printed with.
func printed(s string) int {
	digits, _, _ := strings.Cut(strings.TrimLeft(strings.Replace(s, ".", "", 1), "-0"), "e")
	return len(digits)
}

// rat reads a decimal or a fraction in a test table; "" is an absent one.
func rat(t testing.TB, s string) *big.Rat {
	t.Helper()
	if s == "" {
		return nil
	}
	x, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("%q is no number", s)
	}
	return x
}

func ptr[T any](x T) *T { return &x }

// must fails the test on an error.
func must[T any](t testing.TB) func(T, error) T {
	return func(x T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// wantError fails unless err says all that it has to.
func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one that says %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}
