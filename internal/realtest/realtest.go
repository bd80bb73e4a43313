// Package realtest finds the real programs that tests compare bhsize with.
package realtest

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of a program in PATH. See [Missing] for where there
// is none.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "%v", err)
	}
	return path
}

// Missing ends a test that cannot run for want of something real: it is
// skipped, or fails where BHSIZE_REAL=required, as in CI.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("BHSIZE_REAL") == "required" {
		t.Fatalf("BHSIZE_REAL=required, but "+format, args...)
	}
	t.Skipf("skipped: "+format, args...)
}
