package schema_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/bhsize/bhsize/schema"
)

// A Go service refuses to start on an overcommitted pool.
func ExampleCheck() {
	dir, err := os.MkdirTemp("", "checkout-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "bulkhead.yaml")
	file := "version: 1\nservice: checkout\npools: {outbound: {size: 100, reserved: 10}}\nbulkheads:\n  payments: {permits: 66}\n  search: {permits: 25}\n"
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		panic(err)
	}
	if err := os.Chdir(dir); err != nil {
		panic(err)
	}
	if err := schema.Check("bulkhead.yaml"); err != nil {
		fmt.Println("not starting:", err)
	}
	// Output:
	// not starting: bulkhead.yaml:3:19: the bulkheads of pool "outbound" hold 91 permits, but 90 are available: 1 too many [budget/overcommit]: lower permits, or raise the size of the pool where it is configured and here
}
