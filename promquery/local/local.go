// Package local answers PromQL without a server: it opens an OpenMetrics text
// file (plain or gzip) or a folder of TSDB blocks, and evaluates queries with
// Prometheus's own engine.
//
// It only ever reads. Nothing is written into the folder it is given, not even
// a lock file, so a snapshot on a read-only mount works, and so does the data
// directory of a running Prometheus. What it does not see there is the write-ahead
// log, which holds the samples of the last two to three hours; see [DB.Warnings].
//
// Memory: blocks are mapped, not loaded; what a query touches is what it costs.
// An OpenMetrics file is read in one pass and kept compressed, at 2 to 4 bytes
// per sample and about 1 KiB per series, within the limits of [Open]. A query
// holds at most 50 million samples at a time, like a server with default flags.
package local

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"

	"github.com/bhsize/bhsize/promquery"
)

// The limits of one query; those of a Prometheus server with default flags.
const (
	maxQuerySamples = 50_000_000
	maxQueryTime    = 2 * time.Minute
	maxQueryPoints  = 11_000
	lookback        = 5 * time.Minute
)

var (
	_ promquery.Querier = (*DB)(nil)
	_ promquery.Bounded = (*DB)(nil)
)

// DB is an opened history. It is safe for concurrent queries; Close must not
// run beside one.
type DB struct {
	path     string
	data     source
	engine   *promql.Engine
	warnings []string
}

// source is where the samples lie: in mapped blocks or in memory.
type source interface {
	storage.Queryable
	bounds() (first, last int64)
	close() error
}

// Open opens path: an OpenMetrics text file, plain or gzip (told apart by
// content, not by name), a folder of TSDB blocks such as a Prometheus data
// directory or a snapshot, or one block. Every error names the path, the line
// where there is one, and what to do.
//
// Timestamps of text are cut to milliseconds by Prometheus's parser, through a
// float: decimal fractions that are not sums of powers of two may come out one
// millisecond early, there as here.
//
// An OpenMetrics file may hold at most 4 GiB of text after decompression,
// 100 million samples, a million series and 256 MiB of distinct series names.
func Open(ctx context.Context, path string) (*DB, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open metrics history: %w", err)
	}
	db := &DB{path: path, engine: newEngine()}
	switch {
	case info.IsDir():
		db.data, db.warnings, err = openFolder(ctx, path)
	case info.Mode().IsRegular():
		db.data, err = openFile(ctx, path)
	default:
		err = fmt.Errorf("%s is neither a file nor a folder: give an OpenMetrics file or a folder of TSDB blocks", path)
	}
	if err != nil {
		return nil, err
	}
	return db, nil
}

func newEngine() *promql.Engine {
	return promql.NewEngine(promql.EngineOpts{
		MaxSamples:           maxQuerySamples,
		Timeout:              maxQueryTime,
		LookbackDelta:        lookback,
		EnableAtModifier:     true,
		EnableNegativeOffset: true,
	})
}

// Bounds returns the times of the first and the last sample of all series, UTC.
func (db *DB) Bounds() (first, last time.Time) {
	lo, hi := db.data.bounds()
	return time.UnixMilli(lo).UTC(), time.UnixMilli(hi).UTC()
}

// Warnings says what was found in the folder but not read.
func (db *DB) Warnings() []string { return db.warnings }

// Close releases the mapped files. The DB must not be used afterwards.
func (db *DB) Close() error {
	if err := db.data.close(); err != nil {
		return fmt.Errorf("close %s: %w", db.path, err)
	}
	return nil
}

// Query evaluates expr at one instant. A result that is not an instant vector
// is an error, as is an expression that does not parse. Errors are of type
// *promquery.Error and wrap the engine's or the parser's; a cancelled context
// gives promql.ErrQueryCanceled.
func (db *DB) Query(ctx context.Context, expr string, at time.Time) (model.Vector, []string, error) {
	q, err := db.engine.NewInstantQuery(ctx, db.data, nil, expr, at)
	if err != nil {
		return nil, nil, db.fail(expr, err)
	}
	defer q.Close()
	res := q.Exec(ctx)
	if res.Err != nil {
		return nil, nil, db.fail(expr, res.Err)
	}
	vec, ok := res.Value.(promql.Vector)
	if !ok {
		return nil, nil, db.wrongType(expr, res.Value)
	}
	return toVector(vec), notes(expr, res), nil
}

// QueryRange evaluates expr at r.Start, r.Start+r.Step, ... up to and including
// r.End. A range of more than 11,000 steps is refused, as a server refuses it.
func (db *DB) QueryRange(ctx context.Context, expr string, r promquery.Range) (model.Matrix, []string, error) {
	if err := checkRange(r); err != nil {
		return nil, nil, db.fail(expr, err)
	}
	q, err := db.engine.NewRangeQuery(ctx, db.data, nil, expr, r.Start, r.End, r.Step)
	if err != nil {
		return nil, nil, db.fail(expr, err)
	}
	defer q.Close()
	res := q.Exec(ctx)
	if res.Err != nil {
		return nil, nil, db.fail(expr, res.Err)
	}
	mat, ok := res.Value.(promql.Matrix)
	if !ok {
		return nil, nil, db.wrongType(expr, res.Value)
	}
	return toMatrix(mat), notes(expr, res), nil
}

func checkRange(r promquery.Range) error {
	switch {
	case r.Step < time.Millisecond:
		return fmt.Errorf("step %s is too short: give at least 1ms", r.Step)
	case r.End.Before(r.Start):
		return fmt.Errorf("range ends at %s, before it starts at %s: swap them", stamp(r.End), stamp(r.Start))
	case r.End.Sub(r.Start)/r.Step >= maxQueryPoints:
		return fmt.Errorf("range of %s at a step of %s has more than %d steps: split the range or raise the step", r.End.Sub(r.Start), r.Step, maxQueryPoints)
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// fail says which expression failed on which history, and sorts the cause.
func (db *DB) fail(expr string, err error) error {
	out := &promquery.Error{Message: fmt.Sprintf("query %q on %s: %s", clip(expr), db.path, clip(err.Error())), Err: err}
	var (
		tooMany  promql.ErrTooManySamples
		timeout  promql.ErrQueryTimeout
		canceled promql.ErrQueryCanceled
		storage  promql.ErrStorage
		crash    runtime.Error // which the engine has recovered: an index that points nowhere
	)
	switch {
	case errors.As(err, &canceled):
		return err
	case errors.As(err, &tooMany), errors.As(err, &timeout):
		out.Kind, out.Next = promquery.TooExpensive, "select fewer series or a shorter window"
	case errors.As(err, &storage), errors.As(err, &crash):
		out.Kind, out.Next = promquery.Unavailable, "a block may be damaged: copy it again, or move it out of the folder"
	default:
		out.Kind, out.Next = promquery.BadQuery, "check preset, series and selector"
	}
	return out
}

func (db *DB) wrongType(expr string, v parser.Value) error {
	return &promquery.Error{
		Kind:    promquery.BadQuery,
		Message: fmt.Sprintf("query %q on %s gives a %s, not an instant vector", clip(expr), db.path, v.Type()),
		Next:    "aggregate it, or wrap it in vector()",
	}
}

// clip keeps messages readable when what they quote is not.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// noSamples is the bound of a source in which nothing has been seen yet.
const (
	noFirst = int64(math.MaxInt64)
	noLast  = int64(math.MinInt64)
)
