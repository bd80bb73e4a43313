package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/index"
	"github.com/prometheus/prometheus/tsdb/tombstones"
	"github.com/prometheus/prometheus/util/annotations"
)

// block is one TSDB block, read through the readers of Prometheus's index,
// chunks and tombstones packages. Package tsdb itself has a Block too, but it
// links every service discovery and cloud SDK that a server's configuration
// knows: 18 MB, and half as much again on the start of every command.
type block struct {
	dir        string
	mint, maxt int64 // as meta.json says; maxt is exclusive
	index      *index.Reader
	chunks     *chunks.Reader
	stones     tombstones.Reader
}

// blockMeta is what is read of meta.json.
type blockMeta struct {
	Version int   `json:"version"`
	MinTime int64 `json:"minTime"`
	MaxTime int64 `json:"maxTime"`
}

// maxMeta bounds what is read of meta.json, in bytes; a real one has under 10 kB,
// thousands of compacted sources included under 1 MB.
const maxMeta = 4 << 20

// metaVersion is the only version of meta.json there has been.
const metaVersion = 1

// readBlock opens the parts of a block. What was opened is closed on an error.
func readBlock(dir string) (_ *block, err error) {
	for _, name := range []string{"meta.json", "index"} { // opening a pipe would wait for ever
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is not a regular file", name)
		}
	}
	meta, err := readMeta(dir)
	if err != nil {
		return nil, err
	}
	b := &block{dir: dir, mint: meta.MinTime, maxt: meta.MaxTime}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.chunks, err = chunks.NewDirReader(filepath.Join(dir, "chunks"), nil); err != nil {
		return nil, err
	}
	if b.index, err = index.NewFileReader(filepath.Join(dir, "index"), index.DecodePostingsRaw); err != nil {
		return nil, err
	}
	if b.stones, _, err = tombstones.ReadTombstones(dir); err != nil {
		return nil, err
	}
	return b, nil
}

func readMeta(dir string) (blockMeta, error) {
	var meta blockMeta
	f, err := os.Open(filepath.Join(dir, "meta.json"))
	if err != nil {
		return meta, err
	}
	defer func() { _ = f.Close() }() // read only: nothing is lost by a failure
	if err := json.NewDecoder(io.LimitReader(f, maxMeta)).Decode(&meta); err != nil {
		return meta, fmt.Errorf("meta.json: %w", err)
	}
	if meta.Version != metaVersion {
		return meta, fmt.Errorf("meta.json: unexpected version %d", meta.Version)
	}
	return meta, nil
}

func (b *block) close() error {
	var errs []error
	if b.chunks != nil {
		errs = append(errs, b.chunks.Close())
	}
	if b.index != nil {
		errs = append(errs, b.index.Close())
	}
	if b.stones != nil {
		errs = append(errs, b.stones.Close())
	}
	return errors.Join(errs...)
}

func (b *block) overlaps(mint, maxt int64) bool { return b.mint <= maxt && mint < b.maxt }

// blockQuerier selects series of one block in one range.
type blockQuerier struct {
	storage.LabelQuerier // PromQL never asks for label names; nil by intent

	b          *block
	mint, maxt int64
}

func (*blockQuerier) Close() error { return nil }

// Select implements storage.Querier. References rise with the labels, so the
// series come sorted, whether or not that was asked for.
func (q *blockQuerier) Select(ctx context.Context, _ bool, _ *storage.SelectHints, ms ...*labels.Matcher) storage.SeriesSet {
	p, err := q.b.postings(ctx, ms)
	if err != nil {
		return storage.ErrSeriesSet(err)
	}
	return &blockSet{ctx: ctx, q: q, p: p, ms: ms}
}

// postings narrows the search by the matchers that name their values; the
// others are held against the labels of what is left.
func (b *block) postings(ctx context.Context, ms []*labels.Matcher) (index.Postings, error) {
	var lists []index.Postings
	for _, m := range ms {
		values := named(m)
		if len(values) == 0 {
			continue
		}
		p, err := b.index.Postings(ctx, m.Name, values...)
		if err != nil {
			return nil, err
		}
		lists = append(lists, p)
	}
	if len(lists) == 0 {
		name, value := index.AllPostingsKey()
		return b.index.Postings(ctx, name, value)
	}
	return index.Intersect(lists...), nil
}

// named returns the values that a matcher names, none where it may match
// others or the empty one, which no list holds.
func named(m *labels.Matcher) []string {
	switch {
	case m.Matches(""):
		return nil
	case m.Type == labels.MatchEqual:
		return []string{m.Value}
	case m.Type == labels.MatchRegexp:
		return m.SetMatches()
	}
	return nil
}

// blockSet walks the series of a selection.
type blockSet struct {
	ctx     context.Context
	q       *blockQuerier
	p       index.Postings
	ms      []*labels.Matcher
	builder labels.ScratchBuilder
	at      storage.Series
	err     error
}

func (s *blockSet) Next() bool {
	for s.err == nil && s.p.Next() {
		if s.err = s.ctx.Err(); s.err != nil {
			return false
		}
		var found bool
		if found, s.err = s.read(s.p.At()); found {
			return true
		}
	}
	return false
}

// read takes the series up if it matches and has chunks in the range.
func (s *blockSet) read(ref storage.SeriesRef) (bool, error) {
	var all []chunks.Meta
	if err := s.q.b.index.Series(ref, &s.builder, &all); err != nil {
		return false, err
	}
	lset := s.builder.Labels()
	var cut []chunks.Meta
	for _, c := range all {
		if c.OverlapsClosedInterval(s.q.mint, s.q.maxt) {
			cut = append(cut, c)
		}
	}
	if len(cut) == 0 || !matches(lset, s.ms) {
		return false, nil
	}
	deleted, err := s.q.b.stones.Get(ref)
	if err != nil {
		return false, err
	}
	s.at = s.q.b.series(lset, cut, deleted)
	return true, nil
}

func (s *blockSet) At() storage.Series { return s.at }

func (s *blockSet) Err() error { return errors.Join(s.err, s.p.Err()) }

func (*blockSet) Warnings() annotations.Annotations { return nil }

// series is a series cut to the chunks that a query may need.
func (b *block) series(lset labels.Labels, cut []chunks.Meta, deleted tombstones.Intervals) storage.Series {
	return &storage.SeriesEntry{Lset: lset, SampleIteratorFn: func(reuse chunkenc.Iterator) chunkenc.Iterator {
		its := make([]chunkenc.Iterator, 0, len(cut))
		for _, c := range cut {
			chunk, _, err := b.chunks.ChunkOrIterable(c)
			if err != nil {
				return failed{chunkenc.NewNopIterator(), err}
			}
			its = append(its, without(chunk.Iterator(nil), deleted))
		}
		return storage.ChainSampleIteratorFromIterators(reuse, its)
	}}
}

// failed is an empty iterator with an error.
type failed struct {
	chunkenc.Iterator

	err error
}

func (f failed) Err() error { return f.err }

// without leaves out samples that were deleted but not compacted away yet.
func without(it chunkenc.Iterator, deleted tombstones.Intervals) chunkenc.Iterator {
	if len(deleted) == 0 {
		return it
	}
	return &undeleted{it, deleted}
}

// millis is a time as the TSDB counts it, since 1970. The alias also tells vet
// that Seek is not meant to be io.Seeker's.
type millis = int64

type undeleted struct {
	chunkenc.Iterator

	deleted tombstones.Intervals
}

func (u *undeleted) Next() chunkenc.ValueType { return u.skip(u.Iterator.Next()) }

func (u *undeleted) Seek(t millis) chunkenc.ValueType { return u.skip(u.Iterator.Seek(t)) }

// skip moves on while the present sample is a deleted one.
func (u *undeleted) skip(kind chunkenc.ValueType) chunkenc.ValueType {
	for kind != chunkenc.ValNone && u.covers(u.AtT()) {
		kind = u.Iterator.Next()
	}
	return kind
}

func (u *undeleted) covers(t int64) bool {
	for _, d := range u.deleted {
		if d.Mint <= t && t <= d.Maxt {
			return true
		}
	}
	return false
}
