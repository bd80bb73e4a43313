//go:build unix

package schema_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bhsize/bhsize/schema"
)

// TestReadFileRefuses holds that what is no file of ours is refused with its
// name and a reason, at once, and in memory that does not grow with it.
func TestReadFileRefuses(t *testing.T) {
	dir := t.TempDir()
	pipe, sparse, over := filepath.Join(dir, "pipe.yaml"), filepath.Join(dir, "sparse.yaml"), filepath.Join(dir, "over.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, sparse, 0)
	if err := os.Truncate(sparse, 300<<20); err != nil {
		t.Fatal(err)
	}
	write(t, over, 4<<20+1)
	link := filepath.Join(dir, "link.yaml")
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/dev/zero": "a device", dir: "a directory", pipe: "a pipe", link: "a pipe", sparse: "4 MiB", over: "4 MiB",
	} {
		for name, read := range map[string]func() error{
			"ReadFile": func() error { _, err := schema.ReadFile(path); return err },
			"LoadFile": func() error { _, _, err := schema.LoadFile(path); return err },
			"Check":    func() error { return schema.Check(path) },
		} {
			allocated, err := timed(t, name+" "+path, read)
			var at *fs.PathError
			if !errors.As(err, &at) || at.Path != path || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: error %v, want the path and %q", name, path, err, want)
			}
			if allocated > 32<<20 {
				t.Errorf("%s %s: took %d bytes of memory", name, path, allocated)
			}
		}
	}
}

// timed fails where a read takes long: it waits for something.
func timed(t *testing.T, name string, read func() error) (allocated uint64, err error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan error, 1)
	go func() { done <- read() }()
	select {
	case err = <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s blocks", name)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

func write(t *testing.T, path string, size int) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Repeat("#", size)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestReadFileReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	for _, size := range []int{0, 1, 4 << 20} {
		write(t, path, size)
		if src, err := schema.ReadFile(path); err != nil || len(src) != size {
			t.Errorf("%d bytes: read %d, %v", size, len(src), err)
		}
	}
	if _, err := schema.ReadFile(path + ".not"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
