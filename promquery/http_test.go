package promquery

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const password = "hunter2"

// serve starts a server and returns its address, with a user and a password.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return strings.Replace(s.URL, "http://", "http://user:"+password+"@", 1)
}

// answer is a handler that always says the same.
func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client may have left
	}
}

func asJSON(status int, body string) http.HandlerFunc {
	return answer(status, "application/json", body)
}

func newTestHTTP(t *testing.T, address string, timeout time.Duration) *HTTP {
	t.Helper()
	q, err := newHTTP(address, timeout, nil, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

var someRange = Range{day1, day1.Add(time.Hour), time.Minute}

const (
	emptyMatrix = `{"status":"success","data":{"resultType":"matrix","result":[]}}`
	emptyVector = `{"status":"success","data":{"resultType":"vector","result":[]}}`
)

func cutShort(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, emptyMatrix[:20])
}

func redirectTo(status int, to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, status) }
}

func TestHTTPFailures(t *testing.T) {
	const html = "<html><body>Sign in</body></html>"
	for _, c := range []struct {
		why     string
		handler http.HandlerFunc
		kind    Kind
		message string
		next    string
	}{
		{"a query that does not parse", asJSON(400, `{"status":"error","errorType":"bad_data","error":"parse error: unexpected )"}`), BadQuery, "refused the query: parse error: unexpected )", "--explain"},
		{"a bad request that is not Prometheus's", answer(400, "text/html", html), Denied, "400", "path prefix"},
		{"no credentials", answer(401, "text/html", html), Denied, "answered 401 Unauthorized", "credentials"},
		{"an orgless tenant", answer(401, "text/plain", "no org id\n"), Denied, "401 Unauthorized: no org id", "credentials"},
		{"forbidden, to POST and to GET", answer(403, "text/plain", "RBAC: access denied"), Denied, "403 Forbidden: RBAC: access denied", "credentials"},
		{"a path prefix is missing", answer(404, "text/plain", "404 page not found"), Denied, "404 Not Found", "path prefix"},
		{"not allowed at all", answer(405, "text/plain", ""), Denied, "405 Method Not Allowed", "address"},
		{"too many samples", asJSON(422, `{"status":"error","errorType":"execution","error":"query processing would load too many samples into memory in query execution"}`), TooExpensive, "too many samples", "prometheus.selector"},
		{"an unprocessable page", answer(422, "text/html", html), Denied, "422", "address"},
		{"rate limit", answer(429, "text/plain", "too many outstanding requests"), TooExpensive, "429 Too Many Requests: too many outstanding", "wait"},
		{"a crash", answer(500, "text/plain", "boom\nstack trace"), Unavailable, "500 Internal Server Error: boom", "log"},
		{"an error of Thanos", asJSON(500, `{"status":"error","errorType":"internal","error":"no store matched"}`), Unavailable, "500 Internal Server Error: no store matched", "log"},
		{"a bad gateway", answer(502, "text/html", html), Unavailable, "502 Bad Gateway", "try again"},
		{"the server's own timeout", asJSON(503, `{"status":"error","errorType":"timeout","error":"query timed out in expression evaluation"}`), TooExpensive, "gave up on the query: query timed out", "--window"},
		{"a query that its server cancelled", asJSON(503, `{"status":"error","errorType":"canceled","error":"query was canceled"}`), TooExpensive, "query was canceled", "--window"},
		{"starting up", answer(503, "text/plain", "Service Unavailable"), Unavailable, "503 Service Unavailable", "try again"},
		{"a login page", answer(200, "text/html; charset=utf-8", html), NotPrometheus, "text/html", "login page"},
		{"no content type", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			w.WriteHeader(http.StatusOK)
		}, NotPrometheus, "instead of JSON", "address"},
		{"truncated JSON", asJSON(200, emptyMatrix[:30]), NotPrometheus, "did not answer as a Prometheus does", "cut the answer short"},
		{"a connection that breaks", cutShort, Unavailable, "broke off", "try again"},
		{"an empty body", asJSON(200, ""), NotPrometheus, "did not answer as a Prometheus", "base URL"},
		{"no content", asJSON(204, ""), NotPrometheus, "did not answer as a Prometheus", "base URL"},
		{"another API's JSON", asJSON(200, `{"hello":"world"}`), NotPrometheus, "", "address"},
		{"an array", asJSON(200, `[1,2]`), NotPrometheus, "did not answer as a Prometheus", "base URL"},
		{"a vector for a matrix", asJSON(200, emptyVector), NotPrometheus, "a vector where a matrix was asked for", "Prometheus API"},
		{"an error with status 200", asJSON(200, `{"status":"error","errorType":"execution","error":"expanding series: context"}`), TooExpensive, "expanding series", "prometheus.selector"},
		{"an internal error with status 200", asJSON(200, `{"status":"error","errorType":"internal","error":"disk"}`), Unavailable, "disk", "log"},
		{"a redirect that loses the query", redirectTo(302, "https://login.example/sso/start?token=secret"), NotPrometheus, "redirects to https://login.example/sso/start", "log in"},
		{"a permanent one to https", redirectTo(301, "https://prometheus.example/api/v1/query_range"), NotPrometheus, "redirects to https://prometheus.example/api", "address"},
		{"an endless redirect", redirectTo(307, "/again"), Unavailable, "10 redirects", "address"},
		{"huge", asJSON(200, `{"status":"success","data":"`+strings.Repeat("x", 4<<20)+`"}`), TooExpensive, "larger than 1 MiB", "prometheus.selector"},
	} {
		t.Run(c.why, func(t *testing.T) {
			address := serve(t, c.handler)
			q := newTestHTTP(t, address, time.Minute)
			_, _, err := q.QueryRange(t.Context(), `up{a="b"}`, someRange)
			wantFailure(t, err, c.kind, c.message, c.next)
			if host := address[strings.Index(address, "@")+1:]; err != nil && !strings.Contains(err.Error(), host) {
				t.Errorf("%q does not name the server %s", err, host)
			}
		})
	}
}

// wantFailure wants one line that says what failed, and no secret in any layer.
func wantFailure(t *testing.T, err error, kind Kind, message, next string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want an *Error", err)
	}
	if e.Kind != kind || !strings.Contains(e.Message, message) || !strings.Contains(e.Next, next) || e.Next == "" {
		t.Errorf("kind %d, message %q, next %q; want kind %d, %q, %q", e.Kind, e.Message, e.Next, kind, message, next)
	}
	if strings.Contains(e.Message, "\n") || len(e.Message) > 400 {
		t.Errorf("message %q is not one short line", e.Message)
	}
	for ; err != nil; err = errors.Unwrap(err) {
		if text := strings.ToLower(err.Error()); strings.Contains(text, password) || strings.Contains(text, "secret") || strings.Contains(text, "user:") || strings.Contains(text, "@") {
			t.Errorf("%q holds a secret", text)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	address := serve(t, nil)
	for _, c := range []struct{ why, address string }{
		{"a closed port", strings.Replace(address, address[strings.LastIndex(address, ":"):], ":1", 1)},
		{"a host that does not exist", "http://user:" + password + "@prometheus.invalid:9090"},
	} {
		_, _, err := newTestHTTP(t, c.address, time.Minute).QueryRange(t.Context(), "up", someRange)
		t.Run(c.why, func(t *testing.T) {
			wantFailure(t, err, Unavailable, "cannot reach http://", "server is up")
		})
	}
}

// blocked answers only when the client has left or the test ends.
func blocked(t *testing.T) http.HandlerFunc {
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	return func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is a client that leaves noticed
		select {
		case <-r.Context().Done():
		case <-done:
		}
	}
}

func TestSlowServer(t *testing.T) {
	q := newTestHTTP(t, serve(t, blocked(t)), 20*time.Millisecond)
	_, _, err := q.QueryRange(t.Context(), "up", someRange)
	wantFailure(t, err, Unavailable, "did not answer in time", "--timeout")
}

func TestSlowBody(t *testing.T) {
	wait := blocked(t)
	q := newTestHTTP(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, emptyMatrix[:20])
		w.(http.Flusher).Flush()
		wait(w, r)
	}), 50*time.Millisecond)
	_, _, err := q.QueryRange(t.Context(), "up", someRange)
	wantFailure(t, err, Unavailable, "did not answer in time", "--timeout")
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	wait := blocked(t)
	q := newTestHTTP(t, serve(t, func(w http.ResponseWriter, r *http.Request) { cancel(); wait(w, r) }), time.Minute)
	_, _, err := q.QueryRange(ctx, "up", someRange)
	var failed *Error
	if !errors.Is(err, context.Canceled) || errors.As(err, &failed) {
		t.Errorf("error %v, want context.Canceled, which is no failure of the server", err)
	}
	if err != nil && strings.Contains(err.Error(), password) {
		t.Errorf("%q holds the password", err)
	}
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{"", "localhost:9090", "ftp://a", "http://", "http:///path", "http://user:" + password + "@h\x7f", "://", "http://user:" + password + "@[::1"} {
		_, err := NewHTTP(address, time.Minute, nil)
		if err == nil || !strings.Contains(err.Error(), "http://localhost:9090") || strings.Contains(err.Error(), password) {
			t.Errorf("%q: error %v, want one with an example and without the password", address, err)
		}
	}
}

// recorded is what a server saw.
type recorded struct {
	path, method, query, user string
}

func TestRequestsAreWhole(t *testing.T) {
	var saw []recorded
	handler := func(deny string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			user, pass, _ := r.BasicAuth()
			saw = append(saw, recorded{r.URL.Path, r.Method, r.FormValue("query"), user + ":" + pass})
			switch {
			case r.Method == deny:
				answer(http.StatusMethodNotAllowed, "text/plain", "")(w, r)
			case strings.HasPrefix(r.URL.Path, "/moved"):
				http.Redirect(w, r, "/there"+strings.TrimPrefix(r.URL.Path, "/moved"), http.StatusTemporaryRedirect)
			default:
				asJSON(200, emptyMatrix)(w, r)
			}
		}
	}
	const expr = `sum by (a) (rate(b{c="&=+%é"}[1m]))`
	const path, user = "/api/v1/query_range", "user:" + password
	for _, c := range []struct {
		why, prefix, deny string
		want              []recorded
	}{
		{"at the root", "", "", []recorded{{path, "POST", expr, user}}},
		{"a slash at the end", "/", "", []recorded{{path, "POST", expr, user}}},
		{"a path prefix", "/prometheus/", "", []recorded{{"/prometheus" + path, "POST", expr, user}}},
		{"a longer one", "/select/0/prometheus", "", []recorded{{"/select/0/prometheus" + path, "POST", expr, user}}},
		{"no POST: asked again by GET", "", "POST", []recorded{{path, "POST", expr, user}, {path, "GET", expr, user}}},
		{"a redirect that keeps the query", "/moved", "", []recorded{{"/moved" + path, "POST", expr, user}, {"/there" + path, "POST", expr, user}}},
	} {
		saw = nil
		q := newTestHTTP(t, serve(t, handler(c.deny))+c.prefix, time.Minute)
		if _, _, err := q.QueryRange(t.Context(), expr, someRange); err != nil {
			t.Errorf("%s: %v", c.why, err)
		}
		if d := cmp.Diff(c.want, saw, cmp.AllowUnexported(recorded{})); d != "" {
			t.Errorf("%s (-want +got)\n%s", c.why, d)
		}
	}
}

func TestRangeAnswer(t *testing.T) {
	q := newTestHTTP(t, serve(t, asJSON(200, `{"status":"success","warnings":["a store is away"],"infos":["not a counter?"],"data":{"resultType":"matrix","result":[
		{"metric":{"d":"x"},"values":[[1,"2.5"],[2,"NaN"],[3,"+Inf"],[4,"-Inf"],[5,"3"]]}]}}`)), time.Minute)
	matrix, notes, err := q.QueryRange(t.Context(), "up", someRange)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a store is away", "not a counter?"}, notes); d != "" {
		t.Errorf("notes (-want +got)\n%s", d)
	}
	var got []float64
	each(matrix[0].Values, func(_ time.Time, v float64) { got = append(got, v) })
	if d := cmp.Diff([]float64{2.5, 3}, got); d != "" {
		t.Errorf("NaN and infinities are no values (-want +got)\n%s", d)
	}
}

func TestInstantAnswer(t *testing.T) {
	q := newTestHTTP(t, serve(t, asJSON(200, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"d":"x"},"value":[1,"2.5"]}]}}`)), time.Minute)
	vector, _, err := q.Query(t.Context(), "up", day1)
	if err != nil || len(vector) != 1 || vector[0].Value != 2.5 || vector[0].Metric["d"] != "x" {
		t.Errorf("%v, error %v", vector, err)
	}
	q = newTestHTTP(t, serve(t, asJSON(200, `{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}`)), time.Minute)
	_, _, err = q.Query(t.Context(), "1", day1)
	wantFailure(t, err, NotPrometheus, "a scalar where a vector was asked for", "Prometheus API")
}

// What the engine says once is said once, though every chunk brings it.
func TestWarningsAreKeptOnce(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		result := "[]"
		if strings.HasPrefix(r.FormValue("query"), "quantile") {
			result = `[{"metric":{},"values":[[1,"240"]]}]`
		}
		asJSON(200, `{"status":"success","warnings":["partial"],"data":{"resultType":"matrix","result":`+result+`}}`)(w, r)
	}
	q := newTestHTTP(t, serve(t, handler), time.Minute)
	m, err := Measure(t.Context(), q, Request{Series: istioSeries(t), Start: day1, End: day1.Add(3 * day)})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"partial"}, m.Warnings); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
