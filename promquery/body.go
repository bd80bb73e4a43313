package promquery

import (
	"errors"
	"fmt"
	"io"
)

// The limits of one answer. What decoding it takes is bounded by them, at about
// ten times the largest answer, whatever the answer is made of.
const (
	// MaxResponse is the largest answer read from a server, in bytes after
	// decompression. A day of one query over 500 dependencies at a 15 s step is
	// about 90 MB of JSON.
	MaxResponse = 128 << 20
	// MaxSeries is the highest number of series in one answer: 500 dependencies
	// with 20 buckets each are a tenth of it.
	MaxSeries = 100_000
	// MaxPoints is the highest number of points in one answer, all series
	// together: 500 dependencies at a 15 s step have 2.9 million a day.
	MaxPoints = 10_000_000
)

// What a series may have of labels and other fields, what an answer may have of
// values that belong to no series (warnings), and of blanks in a row.
const (
	maxMembers = 16 * MaxSeries
	maxLoose   = 1_000_000
	maxBlanks  = 64 << 10
	envelope   = 1000 // objects and arrays around the series
)

var (
	// errTooLarge ends the reading of an answer that would not fit in memory.
	errTooLarge = errors.New("answer too large")
	// errMalformed ends the reading of what is no answer of Prometheus.
	errMalformed = errors.New("malformed answer")
)

// boundedBody bounds an answer while it is read: client_golang decodes it only
// when it is there as a whole, and a short text can be a large value.
type boundedBody struct {
	body        io.ReadCloser
	left, limit int64
	where       string
	shape       shape
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, tooLarge(b.where, fmt.Sprintf("is larger than %d MiB", b.limit>>20))
	}
	n, err := b.body.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	b.shape.read(p[:n])
	if wrong := b.shape.wrong(b.where); wrong != nil {
		return 0, wrong
	}
	return n, err
}

func (b *boundedBody) Close() error { return b.body.Close() }

func tooLarge(where, what string) error {
	return &Error{TooExpensive, fmt.Sprintf("the answer of %s %s", where, what),
		"narrow prometheus.selector so that fewer dependencies match", errTooLarge}
}

func malformed(where, what string) error {
	return &Error{NotPrometheus, fmt.Sprintf("the answer of %s %s", where, what),
		"check that the address is a Prometheus API, and what stands in front of it", errMalformed}
}

// valueDepth is how deep the values of a series are nested: in the answer, its
// data, its result, the series and its field.
const valueDepth = 5

// shape counts what a JSON text is made of, byte by byte, outside of strings. It
// judges no syntax: the decoder does.
type shape struct {
	quoted, escaped                  bool
	blanks                           int // in a row
	depth                            int
	objects, arrays, members, commas int
	open                             int  // commas in the array that opened last, negative: empty so far
	null, short                      bool // a value that is null, a point that has one part only
}

func (s *shape) read(p []byte) {
	for _, c := range p {
		switch {
		case s.escaped:
			s.escaped = false
		case s.quoted:
			s.escaped, s.quoted = c == '\\', c != '"'
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			if s.blanks++; s.blanks > maxBlanks {
				return
			}
		default:
			s.blanks = 0
			s.see(c)
		}
	}
}

// nested is s.open within an array that holds arrays or objects.
const nested = 1 << 40

func (s *shape) see(c byte) {
	if s.open < 0 && c != ']' {
		s.open = 0
	}
	switch c {
	case '"':
		s.quoted = true
	case '{':
		s.objects, s.depth, s.open = s.objects+1, s.depth+1, nested
	case '[':
		s.arrays, s.depth, s.open = s.arrays+1, s.depth+1, -1
	case ']':
		s.short = s.short || s.open == 0 && s.depth >= valueDepth
		s.depth, s.open = s.depth-1, nested
	case '}':
		s.depth, s.open = s.depth-1, nested
	case ':':
		s.members++
	case ',':
		s.commas, s.open = s.commas+1, s.open+1
	case 'n': // no other word or number of JSON has one that begins it
		s.null = s.null || s.depth >= valueDepth
	}
}

// wrong is the limit that the text read so far exceeds, or what no answer has.
func (s *shape) wrong(where string) error {
	switch {
	case s.blanks > maxBlanks:
		return malformed(where, fmt.Sprintf("has more than %d KiB of blanks in a row", maxBlanks>>10))
	case s.objects > 2*MaxSeries+envelope:
		return tooManySeries(where)
	case s.arrays > MaxPoints+MaxSeries+envelope:
		return tooManyPoints(where)
	case s.members > maxMembers:
		return tooLarge(where, fmt.Sprintf("has more than %d labels", maxMembers))
	case s.commas > 2*s.arrays+s.members+maxLoose:
		return malformed(where, fmt.Sprintf("has more than %d values that are neither points nor labels", maxLoose))
	case s.null:
		return malformed(where, "has a null among the values of a series")
	case s.short:
		return malformed(where, "has a point without a value")
	}
	return nil
}

func tooManySeries(where string) error {
	return tooLarge(where, fmt.Sprintf("has more than %d series", MaxSeries))
}

func tooManyPoints(where string) error {
	return tooLarge(where, fmt.Sprintf("has more than %d points", MaxPoints))
}
