package schema

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ReadFile reads a file of at most 4 MiB, the most that Load accepts, and no
// more than one byte beyond. It reads regular files only: a directory, a named
// pipe or a device is refused, and never waited for. The error is a
// *fs.PathError.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path) // before opening, which devices may act on
	if err != nil {
		return nil, err
	}
	if err := readable(path, info); err != nil {
		return nil, err
	}
	// A named pipe in its place by now would block without O_NONBLOCK.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if err := readable(path, info); err != nil {
		return nil, err
	}
	src, err := io.ReadAll(io.LimitReader(f, maxSource+1))
	if err != nil {
		return nil, err
	}
	if len(src) > maxSource { // it grew, or its file system does not know sizes
		return nil, unreadable(path, errTooLarge)
	}
	return src, nil
}

// readable refuses what is no regular file, or too large.
func readable(path string, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return unreadable(path, fmt.Errorf("it is %s; name a file", irregular(info.Mode())))
	case info.Size() > maxSource:
		return unreadable(path, errTooLarge)
	}
	return nil
}

func unreadable(path string, why error) error {
	return &fs.PathError{Op: "read", Path: path, Err: why}
}

var errTooLarge = errors.New("it is larger than 4 MiB, the most that is read; check that this is a bulkhead file")

// irregular names what is no regular file.
func irregular(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "no regular file"
}
