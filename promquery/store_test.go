package promquery

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
)

// storing is a measurement of one slot of the group x.
func storing() *measuring {
	return &measuring{src: &source{key: keying{dependency: []string{"d"}, groups: map[string]string{"x": "x"}}},
		out: &Measurement{Start: day1, End: day1.Add(slot)}, slots: map[string]*series{}, known: map[string]bool{}}
}

// stream is a series of the group x with a value at every time after day1.
func stream(le string, value float64, times ...time.Duration) *model.SampleStream {
	s := &model.SampleStream{Metric: model.Metric{"d": "x"}}
	if le != "" {
		s.Metric["le"] = model.LabelValue(le)
	}
	for _, t := range times {
		s.Values = append(s.Values, model.SamplePair{Timestamp: model.TimeFromUnixNano(day1.Add(t).UnixNano()), Value: model.SampleValue(value)})
	}
	return s
}

func storeCalls(s *slotData, _ model.Metric, x float64) { s.calls = x }

// A NaN from a server never becomes a count of zero.
func TestNaNIsNoSample(t *testing.T) {
	m := storing()
	for _, x := range []float64{7, math.NaN()} {
		if err := m.storeSlots(slotQuery{store: storeCalls}, model.Matrix{stream("", x, slot)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.slots["x"].slots[0].calls; got != 7 {
		t.Errorf("calls became %v", got)
	}
}

// What a slot holds is what was evaluated at its end, once for every bound.
func TestNothingIsCountedTwice(t *testing.T) {
	for _, c := range []struct {
		why  string
		all  model.Matrix
		want buckets
		err  string
	}{
		{"bounds written in two ways are added", model.Matrix{stream("1", 2, slot), stream("1.0", 3, slot), stream("+Inf", 5, slot)}, hist(1, 5, inf, 5), ""},
		{"times that no slot ends at are left out", model.Matrix{stream("1", 2, slot-time.Minute, slot, slot+time.Second, 2*slot), stream("+Inf", 5, 0, slot)}, hist(1, 2, inf, 5), ""},
		{"a group's series twice", model.Matrix{stream("1", 2, slot), stream("1", 3, slot)}, buckets{}, `a series of "x" twice`},
		{"though another label differs", model.Matrix{stream("1", 2, slot), withLabel(stream("1", 3, slot), "pod", "p")}, buckets{}, `pod="p"`},
	} {
		m := storing()
		err := m.storeSlots(slotQuery{store: storeBucket}, c.all)
		if c.err != "" {
			var e *Error
			if !errors.As(err, &e) || e.Kind != NotPrometheus || !strings.Contains(e.Message, c.err) {
				t.Errorf("%s: error %v, want %q", c.why, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
		}
		if d := cmp.Diff(c.want, m.slots["x"].slots[0].hist, cmp.AllowUnexported(buckets{})); d != "" {
			t.Errorf("%s (-want +got)\n%s", c.why, d)
		}
	}
}

// A bound is inserted among the others: a hundred thousand of them take minutes.
func TestBucketsAreBounded(t *testing.T) {
	var all model.Matrix
	for i := range maxBounds {
		all = append(all, stream(fmt.Sprint(i), 1, slot))
	}
	if err := storing().storeSlots(slotQuery{store: storeBucket}, all); err != nil {
		t.Error(err)
	}
	err := storing().storeSlots(slotQuery{store: storeBucket}, append(all, stream("+Inf", 1, slot)))
	var e *Error
	if !errors.As(err, &e) || e.Kind != TooExpensive || !strings.Contains(e.Message, `more than 1000 buckets of "x"`) {
		t.Errorf("error %v, want one of the number of buckets", err)
	}
}

func withLabel(s *model.SampleStream, name model.LabelName, value model.LabelValue) *model.SampleStream {
	s.Metric[name] = value
	return s
}

func TestUnmatchedAreCut(t *testing.T) {
	m := storing()
	long := stream("", 1, slot)
	long.Metric["d"] = model.LabelValue(strings.Repeat("y", 1e6))
	if err := m.storeSlots(slotQuery{store: storeCalls}, model.Matrix{long}); err != nil {
		t.Fatal(err)
	}
	m.finish()
	if d := cmp.Diff([]string{strings.Repeat("y", maxText) + "..."}, m.out.Unmatched); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
