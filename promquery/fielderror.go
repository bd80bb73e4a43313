package promquery

// FieldError is a request that cannot be sent because of one of its fields:
// a selector that does not parse, an unknown unit.
type FieldError struct {
	// Field is the name in the file, below prometheus: selector, preset, series.errors.
	Field string
	Err   error
}

func (e *FieldError) Error() string { return "prometheus." + e.Field + ": " + e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }

// field tags err with the field it comes from; nil stays nil.
func field(name string, err error) error {
	if err == nil {
		return nil
	}
	return &FieldError{Field: name, Err: err}
}
