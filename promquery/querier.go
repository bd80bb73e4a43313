// Package promquery knows what to ask Prometheus about a service's outbound
// calls, how to ask it, and what the answers mean.
//
// The flow is one way: a Preset and the user's names become PromQL (expr.go),
// a Querier answers it (http.go, or the embedded engine in promquery/local),
// and Measure folds the answers into a Measurement. What the numbers are then
// used for is not this package's business.
package promquery

import (
	"context"
	"time"

	"github.com/prometheus/common/model"
)

// Querier answers PromQL. It is deliberately the smallest interface that both
// a server and the embedded engine can satisfy: query and query_range, which
// every member of the Prometheus family has (status endpoints often are absent).
// Measure sends range queries only, since all that it asks has a course over
// time; an instant query is for whoever wants to compare a number with the server's.
//
// Both methods return the annotations of the engine (warnings and infos, as
// text) beside the result. Errors are of type *Error where the cause is known.
type Querier interface {
	// Query evaluates expr at one instant.
	Query(ctx context.Context, expr string, at time.Time) (model.Vector, []string, error)
	// QueryRange evaluates expr at r.Start, r.Start+r.Step, ... up to and including r.End.
	QueryRange(ctx context.Context, expr string, r Range) (model.Matrix, []string, error)
}

// Range is the time range of one range query; both ends are inclusive.
type Range struct {
	Start, End time.Time
	Step       time.Duration
}

// Bounded is a Querier that knows the times of its first and last sample, as
// a file and a folder of blocks do and a server does not.
type Bounded interface {
	Bounds() (first, last time.Time)
}

// Warner is a Querier that has something to say about its data as a whole,
// such as what it found and could not read.
type Warner interface {
	Warnings() []string
}
