package local

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

func openFile(ctx context.Context, path string) (source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open metrics history: %w", err)
	}
	defer func() { _ = f.Close() }() // read only: closing cannot lose anything
	in, err := decompress(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m, err := readOpenMetrics(ctx, path, in, defaultLimits)
	if err != nil {
		return nil, err // not m: a nil *memory is not a nil source
	}
	return m, nil
}

// decompress returns the text behind in, which may be gzip.
func decompress(in io.Reader) (io.Reader, error) {
	buf := bufio.NewReaderSize(in, 64<<10)
	head, err := buf.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !isGzip(head) {
		return buf, nil
	}
	z, err := gzip.NewReader(buf)
	if err != nil {
		return nil, gzipError(err)
	}
	return gzipReader{z}, nil
}

// gzipReader says of its errors that they are gzip's.
type gzipReader struct{ z *gzip.Reader }

func (g gzipReader) Read(p []byte) (int, error) {
	n, err := g.z.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = gzipError(err)
	}
	return n, err
}

func gzipError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("the gzip stream ends early: copy or compress the file again")
	}
	return fmt.Errorf("the gzip stream is damaged (%w): copy or compress the file again", err)
}

// lines hands out whole lines, each with its newline, within the limits.
type lines struct {
	in   *bufio.Reader
	max  limits
	read int64
}

func newLines(in io.Reader, max limits) *lines {
	return &lines{in: bufio.NewReaderSize(in, max.line), max: max}
}

// next returns the next line, valid until the call after. Only the last line
// of a file may lack its newline.
func (l *lines) next() ([]byte, error) {
	text, err := l.in.ReadSlice('\n')
	l.read += int64(len(text))
	switch {
	case l.read > l.max.bytes:
		return nil, fmt.Errorf("more than %d MiB of text: export fewer series or a shorter time, or give TSDB blocks", l.max.bytes>>20)
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("line is longer than %d KiB: this is not an OpenMetrics file", l.max.line>>10)
	case errors.Is(err, io.EOF) && len(text) > 0:
		return text, nil
	}
	return text, err
}
