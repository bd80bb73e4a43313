package promquery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
)

// Kind sorts what can go wrong with a query by what the user has to do about it.
type Kind int

const (
	// Unavailable means: nobody answered, or a 5xx.
	Unavailable Kind = iota
	// TooExpensive means: the server refused or gave up because of a limit.
	TooExpensive
	// BadQuery means: the server did not accept the expression or the parameters.
	BadQuery
	// Denied means: 401, 403 and other 4xx from in front of the API.
	Denied
	// NotPrometheus means: something answered, but not with the Prometheus API.
	NotPrometheus
	// NoData means: the query worked and nothing matched.
	NoData
)

// Error is a failed query: what failed, and what to do next.
type Error struct {
	Kind    Kind
	Message string // one line, names the thing
	Next    string // what to do about it
	Err     error
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Err }

// classify turns an error of client_golang's API into an *Error. where is the
// server's address without secrets.
func classify(where string, err error) error {
	err = bare(err)
	var known *Error
	var apiErr *v1.Error
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Unavailable, fmt.Sprintf("%s did not answer in time", where),
			"raise --timeout, or ask for less with a shorter --window", err}
	case errors.As(err, &apiErr):
		return classifyAPI(where, scrubbed(apiErr))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{Unavailable, fmt.Sprintf("%s broke off in the middle of its answer", where),
			"try again; if it persists, look at the server's log and at what stands in front of it", err}
	}
	return &Error{Unavailable, fmt.Sprintf("cannot reach %s: %s", where, clip(scrub(err.Error()))),
		"check the address in --prometheus or prometheus.url, and that the server is up", err}
}

// Types of Prometheus's API that client_golang does not name.
const (
	errInternal    v1.ErrorType = "internal"
	errUnavailable v1.ErrorType = "unavailable"
)

// classifyAPI sorts the errors that carry Prometheus's own errorType, or that
// client_golang derived from the status code.
func classifyAPI(where string, e *v1.Error) error {
	said := clip(strings.TrimSpace(e.Msg))
	switch e.Type {
	case v1.ErrBadData:
		return &Error{BadQuery, fmt.Sprintf("%s refused the query: %s", where, said),
			"run with --explain NAME to see the queries; check preset, series and selector", e}
	case v1.ErrTimeout, v1.ErrCanceled:
		return &Error{TooExpensive, fmt.Sprintf("%s gave up on the query: %s", where, said),
			"shorten --window, narrow prometheus.selector, or raise the server's query.timeout", e}
	case v1.ErrExec:
		return &Error{TooExpensive, fmt.Sprintf("%s could not execute the query: %s", where, said),
			"narrow prometheus.selector, or raise the limit that the server names", e}
	case v1.ErrClient:
		return &Error{Denied, fmt.Sprintf("%s answered %s", where, withDetail(said, e.Detail)),
			"check the address (a path prefix may be missing) and the credentials", e}
	case v1.ErrServer, errInternal, errUnavailable:
		return &Error{Unavailable, fmt.Sprintf("%s answered %s", where, withDetail(said, e.Detail)),
			"try again later, or look at the server's log", e}
	}
	return &Error{NotPrometheus, fmt.Sprintf("%s did not answer as a Prometheus does: %s", where, said),
		"check the address: it must be the base URL of a Prometheus API, and nothing on the way may cut the answer short", e}
}

// withDetail adds the first line of a server's own words.
func withDetail(said, detail string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(detail), "\n")
	if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "<") {
		return said // a page for browsers says less than its status
	}
	return said + ": " + clip(line)
}
