package schema

import "errors"

// Check is the assertion for start-up code: it returns nil for a file that is
// valid and whose bulkheads fit their pools, and otherwise an error that lists
// every problem, one a line, or says why the path cannot be read.
func Check(path string) error {
	_, problems, err := LoadFile(path)
	if err != nil {
		return err
	}
	errs := make([]error, len(problems))
	for i, p := range problems {
		errs[i] = p
	}
	return errors.Join(errs...)
}
