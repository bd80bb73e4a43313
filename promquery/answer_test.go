package promquery

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func matrixOf(series ...string) string { return inMatrix + strings.Join(series, ",") + "]}}" }

func vectorOf(series ...string) string { return inVector + strings.Join(series, ",") + "]}}" }

// One that would be counted wrongly is refused.
func TestRefusedAnswers(t *testing.T) {
	for _, c := range []struct{ why, body, want string }{
		{"a null for a series", matrixOf("null"), "a null in place of a series"},
		{"beside a good one", matrixOf(`{"metric":{"d":"x"},"values":[[1,"2"]]}`, "null"), "a null in place of a series"},
		{"a null for a sample", vectorOf("null"), "a null in place of a series"},
		{"a null for a point", matrixOf(`{"values":[null]}`), "a null among the values"},
		{"a null for a time", matrixOf(`{"values":[[null,"2"]]}`), "a null among the values"},
		{"a null for a value", matrixOf(`{"values":[[1,null]]}`), "a null among the values"},
		{"a null for an instant's value", vectorOf(`{"value":[1,null]}`), "a null among the values"},
		{"a null for a label's value", matrixOf(`{"metric":{"d":null}}`), "a null among the values"},
		{"a null for labels", matrixOf(`{"metric":null,"values":[[1,"2"]]}`), "did not answer as a Prometheus does"},
		{"a point without a value", matrixOf(`{"values":[[1]]}`), "a point without a value"},
		{"a sample without a value", vectorOf(`{"value":[1]}`), "a point without a value"},
		{"a series twice", matrixOf(`{"metric":{"d":"x","le":"1"},"values":[[1,"2"]]}`, `{"metric":{"le":"1","d":"x"},"values":[[2,"2"]]}`), `the same series twice: {d="x", le="1"}`},
		{"a series without labels twice", matrixOf(`{"values":[[1,"2"]]}`, `{"metric":{},"values":[[1,"2"]]}`), "the same series twice: {}"},
		{"a sample twice", vectorOf(`{"metric":{"d":"x"},"value":[1,"2"]}`, `{"metric":{"d":"x"},"value":[1,"2"]}`), "the same series twice"},
		{"a time twice", matrixOf(`{"metric":{"d":"x"},"values":[[1,"2"],[1,"2"]]}`), `times of {d="x"} that do not ascend`},
		{"times that go back", matrixOf(`{"values":[[2,"2"],[1,"2"]]}`), "do not ascend"},
		{"a long label", matrixOf(`{"metric":{"d":"` + strings.Repeat("x", 1e6) + `"},"values":[[2,"2"],[1,"2"]]}`), "xxx... that do not ascend"},
	} {
		q := asking(t, text1(c.body))
		_, _, err := q.QueryRange(t.Context(), "up", someRange)
		if strings.HasPrefix(c.body, inVector) {
			_, _, err = q.Query(t.Context(), "up", day1)
		}
		t.Run(c.why, func(t *testing.T) { wantFailure(t, err, NotPrometheus, c.want, "Prometheus API") })
	}
}

// le "1" and "1.0" are two series, and are added.
func TestBoundsWrittenTwoWaysAreTwoSeries(t *testing.T) {
	q := asking(t, text1(matrixOf(`{"metric":{"d":"x","le":"1"},"values":[[1,"2"]]}`, `{"metric":{"d":"x","le":"1.0"},"values":[[1,"3"]]}`)))
	if matrix, _, err := q.QueryRange(t.Context(), "up", someRange); err != nil || len(matrix) != 2 {
		t.Errorf("%v, error %v", matrix, err)
	}
}

// FuzzAnswer: whatever a server says, it is an error that is known, or an
// answer without nil series, whose times ascend.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{
		emptyMatrix, emptyVector, ``, `null`, `[]`, `{"status":"success","data":null}`, `{"status":"success","data":{"resultType":"matrix","result":null}}`,
		matrixOf("null"), vectorOf("null"), matrixOf(`{"metric":null,"values":null,"histograms":null}`), matrixOf(`{"values":[null]}`), matrixOf(`{"histograms":[null]}`),
		matrixOf(`{"histograms":[[1,null]]}`), matrixOf(`{"histograms":[[1,{"count":"1","sum":"1","buckets":[null]}]]}`), vectorOf(`{"histogram":null}`),
		vectorOf(`{"histogram":[1,{"count":"1","sum":"1","buckets":[[1,"0","1","1"]]}]}`), vectorOf(`{"metric":{"d":"x"},"value":[1e300,"NaN"]}`),
		matrixOf(`{"values":[[1,"2"],[0.5,"2"]]}`), matrixOf(`{"values":[[-9223372036854775808,"2"],[9223372036854775807,"2"]]}`),
		`{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}`, `{"status":"success","data":{"resultType":"string","result":null}}`,
		`{"status":"error","errorType":"bad_data","error":null}`, `{"status":"error","warnings":[null]}`, `{"status":"success","data":{"resultType":null,"result":[]}}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		q := asking(t, text1(body))
		matrix, _, err := q.QueryRange(t.Context(), "up", someRange)
		known(t, err)
		for _, s := range matrix {
			for i := range s.Values {
				if i > 0 && !s.Values[i].Timestamp.After(s.Values[i-1].Timestamp) {
					t.Errorf("times %v", s.Values)
				}
			}
		}
		vector, _, err := q.Query(t.Context(), "up", day1)
		known(t, err)
		for _, s := range vector {
			_ = s.Value
		}
		if _, err := Measure(t.Context(), q, Request{Series: Series{Histogram: "h", Unit: "s", Dependency: []string{"d"}}, Groups: []Group{{Name: "x"}}, Start: day1, End: day1.Add(time.Hour)}); err != nil {
			known(t, err)
		}
	})
}

// known wants an error that says what to do, in a line that fits on a screen.
func known(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if err != nil && (!errors.As(err, &e) || len(e.Message) > 2000 || e.Next == "") {
		t.Errorf("error %T: %.3000v", err, err)
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct{ why, text, want string }{
		{"short", "abc", "abc"},
		{"empty", "", ""},
		{"exactly", strings.Repeat("é", maxText), strings.Repeat("é", maxText)},
		{"one more", strings.Repeat("é", maxText+1), strings.Repeat("é", maxText) + "..."},
		{"no UTF-8 is cut between bytes", strings.Repeat("\xff", 1e6), strings.Repeat("\xff", maxText) + "..."},
	} {
		got := clip(c.text)
		if d := cmp.Diff(c.want, got); d != "" || utf8.ValidString(c.text) && !utf8.ValidString(got) {
			t.Errorf("%s (-want +got)\n%s", c.why, d)
		}
	}
}

// Every text of a server is cut, wherever it stands.
func TestLongTextsAreCut(t *testing.T) {
	long := strings.Repeat("é", 1<<18)
	for why, rt := range map[string]string{
		"a bad query":       `{"status":"error","errorType":"bad_data","error":"` + long + `"}`,
		"an execution":      `{"status":"error","errorType":"execution","error":"` + long + `"}`,
		"an unknown type":   `{"status":"error","errorType":"` + long + `","error":"` + long + `"}`,
		"a value":           matrixOf(`{"values":[[1,"` + long + `"]]}`),
		"a result's type":   `{"status":"success","data":{"resultType":"` + long + `","result":[]}}`,
		"a time":            matrixOf(`{"values":[[1` + strings.Repeat("0", 1<<18) + `,"1"]]}`),
		"no JSON":           long,
		"a label's name":    matrixOf(`{"metric":{"` + long + `":"x"},"values":[[1,"1"],[1,"1"]]}`),
		"a label, no UTF-8": matrixOf(`{"metric":{"d":"` + strings.Repeat("\xff", 1<<18) + `"},"values":[[1,"1"],[1,"1"]]}`),
	} {
		_, _, err := asking(t, text1(rt)).QueryRange(t.Context(), "up", someRange)
		for ; err != nil; err = errors.Unwrap(err) {
			if len(err.Error()) > 1000 {
				t.Errorf("%s: %T of %d bytes", why, err, len(err.Error()))
			}
		}
	}
	q := asking(t, text1(`{"status":"success","warnings":["`+long+`"],"infos":["`+long+`"],"data":{"resultType":"matrix","result":[]}}`))
	if _, notes, err := q.QueryRange(t.Context(), "up", someRange); err != nil || len(notes) != 2 || len(notes[0])+len(notes[1]) > 1000 {
		t.Errorf("%d notes, error %v", len(notes), err)
	}
}
