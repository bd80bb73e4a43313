package promquery

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// says is a transport that answers everything with one text.
type says func() io.Reader

func (s says) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(s())}, nil
}

func text1(s string) says { return func() io.Reader { return strings.NewReader(s) } }

func asking(t testing.TB, rt http.RoundTripper) *HTTP {
	t.Helper()
	q, err := NewHTTP("http://host:9090", time.Minute, rt)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// endless repeats a text for ever.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], e.text[e.at:])
		n, e.at = n+c, (e.at+c)%len(e.text)
	}
	return n, nil
}

const inMatrix, inVector = `{"status":"success","data":{"resultType":"matrix","result":[`, `{"status":"success","data":{"resultType":"vector","result":[`

// Whatever a short text repeats, it is cut before it takes memory out of
// proportion. The reads are counted: none goes to MaxResponse that need not.
func TestAnswersWithoutEnd(t *testing.T) {
	for _, c := range []struct {
		why, begin, repeated string
		kind                 Kind
		message, next        string
		most                 int64 // bytes read
	}{
		{"series without labels and values", inMatrix, `{},`, TooExpensive, "more than 100000 series", "narrow prometheus.selector", 1 << 20},
		{"the same, indented", inMatrix, "{\n\t},\n", TooExpensive, "more than 100000 series", "narrow prometheus.selector", 4 << 20},
		{"samples of a vector", inVector, `{"metric":{},"value":[1,"2"]},`, TooExpensive, "more than 100000 series", "narrow prometheus.selector", 8 << 20},
		{"points", inMatrix + `{"values":[`, `[1,"1"],`, TooExpensive, "more than 10000000 points", "narrow prometheus.selector", 90 << 20},
		{"arrays in arrays", ``, `[`, TooExpensive, "more than 10000000 points", "narrow prometheus.selector", 11 << 20},
		{"labels", inMatrix + `{"metric":{`, `"a":"",`, TooExpensive, "more than 1600000 labels", "narrow prometheus.selector", 16 << 20},
		{"warnings", `{"warnings":[`, `"",`, NotPrometheus, "neither points nor labels", "Prometheus API", 4 << 20},
		{"nulls for series", inMatrix, `null,`, NotPrometheus, "neither points nor labels", "Prometheus API", 8 << 20},
		{"nulls for points", inMatrix + `{"values":[`, `null,`, NotPrometheus, "a null among the values", "Prometheus API", 1 << 20},
		{"blanks", ``, " ", NotPrometheus, "blanks in a row", "Prometheus API", 1 << 20},
		{"blanks of all kinds, later", inMatrix, " \n\t\r", NotPrometheus, "blanks in a row", "Prometheus API", 1 << 20},
		{"a string, blanks and escapes in it", `{"status":"`, `{}, \"[ \\`, TooExpensive, "larger than 128 MiB", "narrow prometheus.selector", MaxResponse},
	} {
		t.Run(c.why, func(t *testing.T) {
			read := &counting{}
			q := asking(t, says(func() io.Reader {
				read.Reader = io.MultiReader(strings.NewReader(c.begin), &endless{text: c.repeated})
				return read
			}))
			_, _, err := q.QueryRange(t.Context(), "up", someRange)
			wantFailure(t, err, c.kind, c.message, c.next)
			if read.n > c.most {
				t.Errorf("%d bytes were read, want at most %d", read.n, c.most)
			}
		})
	}
}

// counting counts what is read, in pieces as a network has them.
type counting struct {
	io.Reader
	n int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p[:min(len(p), 32<<10)])
	c.n += int64(n)
	return n, err
}

// What is within the limits is read, however it is written.
func TestShapesThatPass(t *testing.T) {
	const good = inMatrix + `{"metric":{"d":"x"},"values":[[1,"2.5"]]}]},"warnings":null,"infos":null}`
	for why, body := range map[string]string{
		"compact":                         good,
		"blanks around it":                strings.Repeat("\n", maxBlanks) + good + strings.Repeat(" ", maxBlanks),
		"indented":                        strings.ReplaceAll(good, ",", ",\n\t\t\t"),
		"brackets and blanks in a string": strings.Replace(good, `"x"`, `"`+strings.Repeat(`{[,: \"\\`, 1<<20)+`"`, 1),
		"no values":                       strings.Replace(good, `[[1,"2.5"]]`, "[ ]", 1) + " ",
		"words with an n in them":         strings.Replace(good, `"status"`, `"isPartial":false,"n":1,"status"`, 1),
		"statistics of VictoriaMetrics":   strings.Replace(good, `"status"`, `"stats":{"seriesFetched":"1","executionTimeMsec":null},"status"`, 1),
	} {
		if _, _, err := asking(t, text1(body)).QueryRange(t.Context(), "up", someRange); err != nil {
			t.Errorf("%s: %v", why, err)
		}
	}
}

func TestShapeIsTheSameInPieces(t *testing.T) {
	body := []byte(inMatrix + `{"metric":{"d":"\\\"x[["},"values":[[1,"2.5"],[2,"3"]]}]}}  `)
	var whole, pieces shape
	whole.read(body)
	for part := range bytes.SplitSeq(body, nil) {
		pieces.read(part)
	}
	if whole != pieces || whole.depth != 0 || whole.arrays != 4 || whole.objects != 4 || whole.blanks != 2 {
		t.Errorf("whole %+v, in pieces %+v", whole, pieces)
	}
}
