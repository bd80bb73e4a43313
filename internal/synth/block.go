package synth

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/index"
	"github.com/prometheus/prometheus/tsdb/tombstones"
)

// samplesPerChunk is four times what Prometheus aims at: no chunk is cheaper to
// skip, but a chunk has a head, and examples should be small.
const samplesPerChunk = 480

// WriteBlock writes the history as one TSDB block into dir and returns the
// block's folder. Unlike tsdb.BlockWriter it names the block by the
// configuration and not by chance, so the same history gives the same bytes.
// A block of that name is replaced.
func (h *History) WriteBlock(ctx context.Context, dir string) (string, error) {
	meta := h.meta()
	path := filepath.Join(dir, meta.ULID.String())
	if err := os.RemoveAll(path); err != nil {
		return "", fmt.Errorf("write block: %w", err)
	}
	b := &blockWriter{meta: meta, path: path}
	if err := b.write(ctx, h.Series()); err != nil {
		return "", fmt.Errorf("write block %s: %w", path, err)
	}
	return path, nil
}

// meta names the block: its time is the end of the history, its entropy the seed.
func (h *History) meta() *tsdb.BlockMeta {
	meta := &tsdb.BlockMeta{Version: 1}
	var entropy [10]byte
	binary.BigEndian.PutUint64(entropy[2:], h.config.Seed)
	if err := meta.ULID.SetTime(uint64(h.config.End.UnixMilli())); err != nil {
		panic(err) // a year beyond 10889
	}
	if err := meta.ULID.SetEntropy(entropy[:]); err != nil {
		panic(err) // not 10 bytes
	}
	meta.Compaction.Level = 1
	meta.Compaction.Sources = append(meta.Compaction.Sources, meta.ULID)
	return meta
}

type blockWriter struct {
	meta   *tsdb.BlockMeta
	path   string
	index  *index.Writer
	chunks *chunks.Writer
}

func (b *blockWriter) write(ctx context.Context, series []Series) (err error) {
	if err := os.MkdirAll(b.path, 0o755); err != nil {
		return err
	}
	if b.chunks, err = chunks.NewWriter(filepath.Join(b.path, "chunks")); err != nil {
		return err
	}
	if b.index, err = index.NewWriter(ctx, filepath.Join(b.path, "index")); err != nil {
		return err
	}
	if err := b.writeSeries(series); err != nil {
		return err
	}
	if err := b.chunks.Close(); err != nil {
		return err
	}
	if err := b.index.Close(); err != nil {
		return err
	}
	if _, err := tombstones.WriteFile(slog.New(slog.DiscardHandler), b.path, tombstones.NewMemTombstones()); err != nil {
		return err
	}
	return b.writeMeta()
}

// writeSeries fills index and chunks; the index wants symbols and series sorted.
func (b *blockWriter) writeSeries(series []Series) error {
	for _, s := range symbols(series) {
		if err := b.index.AddSymbol(s); err != nil {
			return err
		}
	}
	series = slices.Clone(series)
	slices.SortFunc(series, func(x, y Series) int { return labels.Compare(x.Labels, y.Labels) })
	for ref, s := range series {
		chks, err := encode(s)
		if err != nil {
			return err
		}
		if err := b.chunks.WriteChunks(chks...); err != nil {
			return err
		}
		if err := b.index.AddSeries(storage.SeriesRef(ref), s.Labels, chks...); err != nil {
			return err
		}
		b.note(chks)
	}
	return nil
}

func symbols(series []Series) []string {
	set := map[string]bool{"": true}
	for _, s := range series {
		s.Labels.Range(func(l labels.Label) { set[l.Name], set[l.Value] = true, true })
	}
	return slices.Sorted(maps.Keys(set))
}

// encode cuts a series into chunks.
func encode(s Series) ([]chunks.Meta, error) {
	var (
		out []chunks.Meta
		app chunkenc.Appender
		err error
	)
	for t, v := range s.Samples() {
		if n := len(out); n == 0 || out[n-1].Chunk.NumSamples() >= samplesPerChunk {
			c := chunkenc.NewXORChunk()
			if app, err = c.Appender(); err != nil {
				return nil, err
			}
			out = append(out, chunks.Meta{Chunk: c, MinTime: t})
		}
		app.Append(0, t, v)
		out[len(out)-1].MaxTime = t
	}
	return out, nil
}

// note keeps the statistics that meta.json shows. A block's end is exclusive.
func (b *blockWriter) note(chks []chunks.Meta) {
	b.meta.Stats.NumSeries++
	for _, c := range chks {
		if b.meta.Stats.NumChunks == 0 {
			b.meta.MinTime = c.MinTime
		}
		b.meta.MinTime = min(b.meta.MinTime, c.MinTime)
		b.meta.MaxTime = max(b.meta.MaxTime, c.MaxTime+1)
		b.meta.Stats.NumChunks++
		b.meta.Stats.NumSamples += uint64(c.Chunk.NumSamples())
	}
}

func (b *blockWriter) writeMeta() error {
	text, err := json.MarshalIndent(b.meta, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.path, "meta.json"), append(text, '\n'), 0o644)
}
