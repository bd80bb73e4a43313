package promquery

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

// HTTP asks a server with the Prometheus HTTP API. What it returns is checked:
// no series is nil or there twice, and its times ascend. An answer above
// MaxResponse, MaxSeries or MaxPoints is TooExpensive, and none of it is kept.
type HTTP struct {
	api     v1.API
	where   string
	timeout time.Duration
}

// NewHTTP returns a Querier for the server at the base URL address (http or
// https, a path prefix is kept). timeout bounds every single query; rt is the
// transport, nil for Prometheus's default one.
func NewHTTP(address string, timeout time.Duration, rt http.RoundTripper) (*HTTP, error) {
	return newHTTP(address, timeout, rt, MaxResponse)
}

func newHTTP(address string, timeout time.Duration, rt http.RoundTripper, limit int64) (*HTTP, error) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("%q is not the URL of a Prometheus: it must look like http://localhost:9090", Redact(address))
	}
	if rt == nil {
		rt = api.DefaultRoundTripper
	}
	client, err := api.NewClient(api.Config{Address: address, RoundTripper: guard{rt, Redact(address), limit}})
	if err != nil {
		return nil, fmt.Errorf("%q: %w", Redact(address), bare(err))
	}
	return &HTTP{api: v1.NewAPI(client), where: Redact(address), timeout: timeout}, nil
}

// Query implements Querier.
func (h *HTTP) Query(ctx context.Context, expr string, at time.Time) (model.Vector, []string, error) {
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	val, warnings, infos, err := h.api.Query(ctx, expr, at)
	if err != nil {
		return nil, nil, classify(h.where, err)
	}
	vector, ok := val.(model.Vector)
	if !ok {
		return nil, nil, wrongType(h.where, "vector", val)
	}
	if err := checkVector(h.where, vector); err != nil {
		return nil, nil, err
	}
	return vector, clipAll(warnings, infos), nil
}

// QueryRange implements Querier.
func (h *HTTP) QueryRange(ctx context.Context, expr string, r Range) (model.Matrix, []string, error) {
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	val, warnings, infos, err := h.api.QueryRange(ctx, expr, v1.Range{Start: r.Start, End: r.End, Step: r.Step})
	if err != nil {
		return nil, nil, classify(h.where, err)
	}
	matrix, ok := val.(model.Matrix)
	if !ok {
		return nil, nil, wrongType(h.where, "matrix", val)
	}
	if err := checkMatrix(h.where, matrix); err != nil {
		return nil, nil, err
	}
	return matrix, clipAll(warnings, infos), nil
}

func wrongType(where, want string, got model.Value) error {
	kind := "value of no kind"
	if got != nil {
		kind = got.Type().String()
	}
	return &Error{NotPrometheus, fmt.Sprintf("%s answered with a %s where a %s was asked for", where, kind, want),
		"check that the address is a Prometheus API", nil}
}

// guard refuses answers that client_golang would misread: pages that are not
// JSON (a login page answers 200 with HTML), redirects that lose the query, and
// statuses that are not of the API. It bounds the others (see boundedBody).
type guard struct {
	next  http.RoundTripper
	where string
	limit int64
}

func (g guard) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if err := g.refuse(req, resp); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	resp.Body = &boundedBody{body: resp.Body, left: g.limit, where: g.where, limit: g.limit}
	return resp, nil
}

func (g guard) refuse(req *http.Request, resp *http.Response) error {
	switch code := resp.StatusCode; {
	case code == http.StatusOK && !isJSON(resp):
		return &Error{NotPrometheus, fmt.Sprintf("%s answered with %q instead of JSON", g.where, clip(resp.Header.Get("Content-Type"))),
			"check the address: a login page or another service may stand in front of Prometheus", nil}
	case code/100 == 2, code == http.StatusBadRequest, code == http.StatusUnprocessableEntity:
		return nil // the API's own, in JSON
	case code == http.StatusTemporaryRedirect, code == http.StatusPermanentRedirect:
		if _, err := resp.Location(); err != nil {
			return redirected(g.where, resp) // net/http would quote what it cannot follow
		}
		return nil // followed, query and all
	case code/100 == 3:
		return redirected(g.where, resp)
	case req.Method == http.MethodPost && slices.Contains(retriedAsGet, code):
		return nil
	}
	return refusedStatus(g.where, resp)
}

// retriedAsGet are what a proxy that lets no POST through answers; client_golang
// then asks again by GET.
var retriedAsGet = []int{http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented}

func isJSON(resp *http.Response) bool {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}
