package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

// limits bound what a text file can make us hold.
type limits struct {
	bytes   int64 // of text, after decompression
	line    int   // bytes of one line
	samples int
	series  int
	names   int // bytes of distinct series text
}

var defaultLimits = limits{bytes: 4 << 30, line: 1 << 20, samples: 100_000_000, series: 1_000_000, names: 256 << 20}

// batchSize is how much text goes to the parser at once: it takes a whole
// exposition, and a history of days does not belong in memory as text.
const batchSize = 256 << 10

// maxMillis keeps times far from where adding a window would overflow.
const maxMillis = int64(1) << 53

const eofMark = "# EOF\n"

// reader turns OpenMetrics text into a memory. It cuts the text into batches of
// whole lines, each completed to an exposition of its own: the TYPE line in
// force in front, the EOF mark behind.
type reader struct {
	path  string
	max   limits
	out   *memory
	keyed map[string]*memSeries // by the text of the series
	same  map[string]*memSeries // by its labels: one series may be written in several ways
	table *labels.SymbolTable

	kind    []byte // the TYPE line in force
	batch   []byte
	first   int // number of the batch's first line
	line    int // number of the line last read
	samples int
	names   int
}

func readOpenMetrics(ctx context.Context, path string, in io.Reader, max limits) (*memory, error) {
	r := &reader{path: path, max: max, out: newMemory(), first: 1, table: labels.NewSymbolTable(),
		keyed: map[string]*memSeries{}, same: map[string]*memSeries{}}
	if err := r.read(ctx, newLines(in, max)); err != nil {
		return nil, err
	}
	if r.samples == 0 {
		return nil, fmt.Errorf("%s holds no samples: export a history with timestamps, or give a folder of TSDB blocks", path)
	}
	r.out.finish()
	return r.out, nil
}

func (r *reader) read(ctx context.Context, in *lines) error {
	for {
		text, err := in.next()
		if errors.Is(err, io.EOF) {
			return r.truncated()
		}
		r.line++
		if err != nil {
			return r.fail(r.line, err)
		}
		if string(text) == eofMark || string(text) == "# EOF" {
			return r.finish(in)
		}
		if !bytes.HasSuffix(text, []byte("\n")) {
			return r.truncated() // half a line is no line
		}
		r.batch = append(r.batch, text...)
		if len(r.batch) < batchSize {
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%s: %w", r.path, err)
		}
		if err := r.flush(); err != nil {
			return err
		}
	}
}

// finish reads the last batch, and makes sure that nothing follows the mark.
func (r *reader) finish(in *lines) error {
	if err := r.flush(); err != nil {
		return err
	}
	switch text, err := in.next(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return r.fail(r.line+1, err)
	default:
		return r.fail(r.line+1, fmt.Errorf("%q after the closing # EOF: remove it, or the mark before it where two files were joined", clip(string(text))))
	}
}

// truncated reports a file without its end. An error in what is there comes
// first: a file of another format has no end mark either.
func (r *reader) truncated() error {
	if err := r.flush(); err != nil {
		return err
	}
	if r.line == 0 {
		return fmt.Errorf("%s is empty: give an OpenMetrics file or a folder of TSDB blocks", r.path)
	}
	return r.fail(r.line, errors.New("the file ends without # EOF, so its end is missing or it is not OpenMetrics: write it again, or add that line if it is whole"))
}

// flush parses the batch and empties it.
func (r *reader) flush() error {
	head := len(r.kind)
	text := make([]byte, 0, head+len(r.batch)+len(eofMark))
	text = append(append(append(text, r.kind...), r.batch...), eofMark...)
	p := textparse.NewOpenMetricsParser(text, r.table)
	if head > 0 {
		if _, err := p.Next(); err != nil {
			return r.fail(r.first, err)
		}
	}
	if err := r.parse(p); err != nil {
		return err
	}
	r.batch, r.first = r.batch[:0], r.line+1
	return nil
}

// parse takes every entry of a batch. Each is one line, which is how lines are counted.
func (r *reader) parse(p textparse.Parser) error {
	for line := r.first; ; line++ {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return r.fail(line, fmt.Errorf("not OpenMetrics: %s: correct the line, or give a file that `promtool tsdb create-blocks-from openmetrics` accepts", clip(err.Error())))
		}
		switch entry {
		case textparse.EntryType:
			name, kind := p.Type()
			r.kind = fmt.Appendf(r.kind[:0], "# TYPE %s %s\n", name, kind)
		case textparse.EntrySeries:
			if err := r.sample(p); err != nil {
				return r.fail(line, err)
			}
		}
	}
}

func (r *reader) sample(p textparse.Parser) error {
	text, t, v := p.Series()
	if t == nil {
		return fmt.Errorf("sample %q has no timestamp: a single scrape has no history to measure a rate from; give a file with timestamps, a folder of TSDB blocks, or the URL of a Prometheus", clip(string(text)))
	}
	if *t > maxMillis || *t < -maxMillis {
		return fmt.Errorf("timestamp of %q is out of range: OpenMetrics timestamps are in seconds", clip(string(text)))
	}
	if r.samples++; r.samples > r.max.samples {
		return fmt.Errorf("more than %d samples: export fewer series or a shorter time, or give TSDB blocks", r.max.samples)
	}
	s, err := r.series(p, text)
	if err != nil {
		return err
	}
	if err := r.out.append(s, *t, v); err != nil {
		return fmt.Errorf("%s: %w", clip(string(text)), err)
	}
	return nil
}

// series finds the series of a line by its text, and works out its labels only
// the first time that text is seen.
func (r *reader) series(p textparse.Parser, text []byte) (*memSeries, error) {
	if s, ok := r.keyed[string(text)]; ok {
		return s, nil
	}
	if r.names += len(text); r.names > r.max.names || len(r.keyed) >= r.max.series {
		return nil, fmt.Errorf("more than %d series, or more than %d MiB of names: export fewer series, or give TSDB blocks", r.max.series, r.max.names>>20)
	}
	var lset labels.Labels
	p.Labels(&lset)
	if name, dup := lset.HasDuplicateLabelNames(); dup {
		return nil, fmt.Errorf("label %q stands twice in %q: remove one", name, clip(string(text)))
	}
	key := string(lset.Bytes(nil))
	s, ok := r.same[key]
	if !ok {
		s = r.out.add(lset)
		r.same[key] = s
	}
	r.keyed[strings.Clone(string(text))] = s
	return s, nil
}

func (r *reader) fail(line int, err error) error {
	return fmt.Errorf("%s:%d: %w", r.path, line, err)
}

// isGzip looks at the magic number.
func isGzip(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }
