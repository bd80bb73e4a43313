package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/bhsize/bhsize/promquery"
	"github.com/bhsize/bhsize/promquery/local"
	"github.com/bhsize/bhsize/schema"
)

// queriers opens what answers queries, each address once, and closes them.
type queriers struct {
	timeout time.Duration
	open    map[string]promquery.Querier
	close   []func() error
}

func newQueriers(timeout time.Duration) *queriers {
	return &queriers{timeout: timeout, open: map[string]promquery.Querier{}}
}

var isURL = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*://`)

// address is where to ask for a file: the flag's, relative to the working
// folder, or the file's own, relative to the file. Empty: nowhere.
func address(flag string, f *schema.File) string {
	own := f.Prometheus.URL
	if flag != "" || own == "" || isURL.MatchString(own) || filepath.IsAbs(own) {
		if flag != "" {
			return flag
		}
		return own
	}
	return filepath.Join(filepath.Dir(f.Name), own)
}

func (q *queriers) get(ctx context.Context, address string) (promquery.Querier, error) {
	if known, ok := q.open[address]; ok {
		return known, nil
	}
	querier, err := q.connect(ctx, address)
	if err == nil {
		q.open[address] = querier
	}
	return querier, err
}

func (q *queriers) connect(ctx context.Context, address string) (promquery.Querier, error) {
	if isURL.MatchString(address) {
		return promquery.NewHTTP(address, q.timeout, nil)
	}
	if _, err := os.Stat(address); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%q is neither a URL such as http://localhost:9090 nor a file or folder that exists", address)
	}
	db, err := local.Open(ctx, address)
	if err != nil {
		return nil, &exit{code: exitUnsized, err: fmt.Errorf("%w; nothing was measured", err)}
	}
	q.close = append(q.close, db.Close)
	return db, nil
}

// closeAll closes what was opened; there is nothing to lose by a failure.
func (q *queriers) closeAll() {
	for _, c := range q.close {
		_ = c()
	}
}
