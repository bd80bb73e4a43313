package promquery

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
)

// maxDetail bounds what is read of an error's body.
const maxDetail = 64 << 10

// refusedStatus is the error for a status that is no answer to a query.
func refusedStatus(where string, resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxDetail)) // half a detail is better than none
	said := fmt.Sprintf("%s answered %d %s", where, resp.StatusCode, http.StatusText(resp.StatusCode))
	var api struct {
		ErrorType v1.ErrorType `json:"errorType"`
		Error     string       `json:"error"`
	}
	if json.Unmarshal(body, &api) == nil && api.Error != "" {
		switch api.ErrorType {
		case v1.ErrTimeout, v1.ErrCanceled, v1.ErrExec:
			return classifyAPI(where, &v1.Error{Type: api.ErrorType, Msg: clip(scrub(api.Error))})
		}
		body = []byte(api.Error)
	}
	kind, next := adviceFor(resp.StatusCode)
	return &Error{Kind: kind, Message: withDetail(said, scrub(string(body))), Next: next}
}

func adviceFor(status int) (Kind, string) {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return Denied, "check the credentials, and that they may query"
	case status == http.StatusNotFound:
		return Denied, "check the address: a path prefix may be missing, it is what stands before /api/v1"
	case status == http.StatusTooManyRequests:
		return TooExpensive, "wait and try again, or ask for less with a shorter --window"
	case status >= http.StatusInternalServerError:
		return Unavailable, "try again later, or look at the server's log"
	}
	return Denied, "check the address: a path prefix may be missing, or something in front of Prometheus refuses"
}

// redirected is the error for a redirect that turns a POST into a GET without
// its query. Only scheme, host and path are quoted: a login's address has tokens.
func redirected(where string, resp *http.Response) error {
	to := "elsewhere"
	if u, err := resp.Location(); err == nil {
		to = "to " + clip(u.Scheme+"://"+u.Host+u.EscapedPath())
	}
	return &Error{NotPrometheus, fmt.Sprintf("%s redirects %s", where, to),
		"give the address that it leads to, or log in: Prometheus itself does not redirect queries", nil}
}
