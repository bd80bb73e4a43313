package promquery

import (
	"errors"
	"strings"
)

// FieldError is a request that cannot be sent because of one of its fields:
// a selector that does not parse, two bulkheads that match the same series.
type FieldError struct {
	// Path is where the field stands in a bulkhead file: prometheus, selector.
	Path []string
	Err  error
}

func (e *FieldError) Error() string { return strings.Join(e.Path, ".") + ": " + e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }

// field tags err with the field below prometheus that it comes from. Nil stays
// nil, and what is tagged already stays as it is.
func field(name string, err error) error {
	var known *FieldError
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &FieldError{Path: append([]string{"prometheus"}, strings.Split(name, ".")...), Err: err}
}

// inMatch tags err with the match of a bulkhead.
func inMatch(bulkhead string, err error) error {
	return &FieldError{Path: []string{"bulkheads", bulkhead, "match"}, Err: err}
}
