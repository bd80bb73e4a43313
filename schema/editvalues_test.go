package schema_test

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bhsize/bhsize/schema"
	"github.com/google/go-cmp/cmp"
)

// randomTraffic draws what a caller may have measured: every field or not, any
// finite decimal, and any time of the day, in any zone.
func randomTraffic(r *rand.Rand) *schema.Traffic {
	maybe := func() bool { return r.IntN(3) > 0 }
	seconds := func() *big.Rat {
		return big.NewRat(1+r.Int64N(1_000_000), []int64{1, 2, 8, 1000, 1_000_000, 1_000_000_000}[r.IntN(6)])
	}
	t := &schema.Traffic{PeakRPS: big.NewRat(1+r.Int64N(1_000_000), []int64{1, 4, 1000, 1_000_000}[r.IntN(4)])}
	if maybe() {
		t.P99 = seconds()
	}
	if maybe() {
		low := seconds()
		t.P99Bounds = &[2]*big.Rat{low, new(big.Rat).Add(low, seconds())}
		if t.P99 != nil {
			t.P99 = t.P99Bounds[r.IntN(2)]
		}
	}
	if maybe() {
		t.Mean = seconds()
	}
	if maybe() {
		t.Level = []string{"call", "attempt"}[r.IntN(2)]
	}
	if maybe() {
		t.Calls = ptr(r.Int64N(1_000_000_000_000_000))
	}
	if maybe() {
		t.Rejected = ptr(r.Int64N(1_000_000))
	}
	if maybe() {
		zone := time.FixedZone("somewhere", (r.IntN(27)-13)*3600+r.IntN(4)*900)
		t.Measured = time.Unix(r.Int64N(4_000_000_000), r.Int64N(1_000_000_000)).In(zone)
	}
	if maybe() {
		t.Window = seconds()
	}
	return t
}

// TestEditStatesAnyTraffic holds for every style of testdata that what was
// given is read back, and that giving it again changes nothing.
func TestEditStatesAnyTraffic(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, path := range files(t, "valid") {
		f, _ := load(t, path)
		for i, b := range f.Bulkheads {
			if i >= 4 {
				break
			}
			for range 12 {
				statesTraffic(t, f, b.Name, randomTraffic(r))
			}
		}
		if t.Failed() {
			return
		}
	}
}

func statesTraffic(t *testing.T, f *schema.File, name string, traffic *schema.Traffic) {
	t.Helper()
	given := *traffic
	changes := []schema.Change{{Bulkhead: name, Traffic: traffic}}
	once, err := f.Edit(changes)
	if diff := cmp.Diff(&given, traffic, compareRats); diff != "" {
		t.Errorf("%s: the caller's traffic was changed:\n%s", f.Name, diff)
	}
	if err != nil {
		if !strings.Contains(err.Error(), "by hand") || strings.Contains(err.Error(), "the edit would") {
			t.Errorf("%s: %s: %v", f.Name, name, err)
		}
		return
	}
	got, problems := schema.Load(f.Name, once)
	if got == nil {
		t.Fatalf("%s: %v", f.Name, problems)
	}
	if !given.Measured.IsZero() {
		y, m, d := given.Measured.UTC().Date()
		given.Measured = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}
	for _, b := range got.Bulkheads {
		if b.Name != name {
			continue
		}
		if diff := cmp.Diff(&given, b.Traffic, compareRats); diff != "" {
			t.Errorf("%s: %s (-given +read back):\n%s\n%s", f.Name, name, diff, once)
		}
	}
	twice, err := got.Edit(changes)
	if err != nil || !bytes.Equal(twice, once) {
		t.Errorf("%s: the second edit changes something: %v\n%s", f.Name, err, cmp.Diff(string(once), string(twice)))
	}
}

func TestEditRefusesWhatCannotBeStated(t *testing.T) {
	f, _ := schema.Load("a.yaml", []byte(head+"bulkheads:\n  a.b: {traffic: {peak_rps: 1}}\n"))
	change := func(edit func(*schema.Traffic)) []schema.Change {
		traffic := fullTraffic()
		edit(traffic)
		return []schema.Change{{Bulkhead: "a.b", Traffic: traffic}}
	}
	third := rat(1, 3)
	for _, c := range []struct {
		field   string
		changes []schema.Change
	}{
		{"peak_rps", change(func(t *schema.Traffic) { t.PeakRPS = third })},
		{"peak_rps", change(func(t *schema.Traffic) { t.PeakRPS = nil })},
		{"peak_rps", change(func(t *schema.Traffic) { t.PeakRPS = rat(-1, 1) })},
		{"peak_rps", change(func(t *schema.Traffic) { t.PeakRPS = rat(1, 1<<60) })},
		{"p99", change(func(t *schema.Traffic) { t.P99 = third })},
		{"p99", change(func(t *schema.Traffic) { t.P99 = new(big.Rat) })},
		{"p99_bounds", change(func(t *schema.Traffic) { t.P99Bounds[1] = third })},
		{"p99_bounds", change(func(t *schema.Traffic) { t.P99Bounds[0] = nil })},
		{"p99_bounds", change(func(t *schema.Traffic) { t.P99Bounds[0] = rat(9, 1) })},
		{"mean", change(func(t *schema.Traffic) { t.Mean = rat(-1, 10) })},
		{"window", change(func(t *schema.Traffic) { t.Window = rat(1, 7) })},
		{"level", change(func(t *schema.Traffic) { t.Level = "call, window: 1d" })},
		{"calls", change(func(t *schema.Traffic) { t.Calls = ptr(int64(-1)) })},
		{"rejected", change(func(t *schema.Traffic) { t.Rejected = ptr(int64(-1)) })},
		{"measured", change(func(t *schema.Traffic) { t.Measured = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) })},
		{"measured", change(func(t *schema.Traffic) { t.Measured = time.Date(1, 1, 1, 5, 0, 0, 0, time.UTC) })},
		{"a.b", append(change(func(*schema.Traffic) {}), permits("a.b", 3))},
	} {
		out, err := f.Edit(c.changes)
		if err == nil || out != nil || !strings.Contains(err.Error(), c.field) || !strings.HasPrefix(err.Error(), "a.yaml") && !strings.Contains(err.Error(), "a.yaml:") {
			t.Errorf("want an error that names %s: %v\n%s", c.field, err, out)
		}
		if testing.Verbose() {
			t.Log(err)
		}
	}
}

// TestEditIsNotFooledByTheCallersClock: a time of the day is not what a file
// can state, so it makes no difference.
func TestEditIsNotFooledByTheCallersClock(t *testing.T) {
	f, _ := load(t, filepath.Join(testdata, "valid", "full.yaml"))
	traffic := *f.Bulkheads[0].Traffic
	traffic.Measured = traffic.Measured.Add(23*time.Hour + 59*time.Minute).In(time.FixedZone("far", 13*3600))
	out, err := f.Edit([]schema.Change{{Bulkhead: "payments", Traffic: &traffic}})
	if err != nil || !bytes.Equal(out, f.Source) {
		t.Errorf("the same day is rewritten: %v\n%s", err, cmp.Diff(string(f.Source), string(out)))
	}
}
