package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/index"
)

// findBounds reads the times of the first and last sample from the indexes.
// What meta.json says is not enough: a server cuts blocks at even hours, and a
// window that ends there would end after the data. Only blocks that can still
// move a bound are read.
func (b *blocks) findBounds(ctx context.Context, dir string) error {
	byEnd := slices.Clone(b.blocks)
	slices.SortStableFunc(byEnd, func(x, y *block) int { return int(sign(y.maxt - x.maxt)) })
	for _, one := range byEnd {
		if one.maxt-1 <= b.last {
			break
		}
		if err := b.widen(ctx, one); err != nil {
			return err
		}
	}
	byStart := slices.Clone(b.blocks)
	slices.SortStableFunc(byStart, func(x, y *block) int { return int(sign(x.mint - y.mint)) })
	for _, one := range byStart {
		if one.mint >= b.first {
			break
		}
		if err := b.widen(ctx, one); err != nil {
			return err
		}
	}
	if b.first > b.last {
		return fmt.Errorf("the blocks in %s hold no samples: check that the right folder was given", dir)
	}
	return nil
}

func sign(d int64) int64 { return max(-1, min(1, d)) }

// widen takes the bounds of one block into account.
func (b *blocks) widen(ctx context.Context, one *block) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
		if err != nil && ctx.Err() == nil {
			err = damaged(one.dir, err)
		}
	}()
	ix := one.index
	name, value := index.AllPostingsKey()
	all, err := ix.Postings(ctx, name, value)
	if err != nil {
		return err
	}
	var (
		builder labels.ScratchBuilder
		chks    []chunks.Meta
	)
	for n := 0; all.Next(); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := ix.Series(all.At(), &builder, &chks); err != nil {
			return err
		}
		for _, c := range chks {
			b.first, b.last = min(b.first, c.MinTime), max(b.last, c.MaxTime)
		}
	}
	return all.Err()
}

// unread warns of a write-ahead log that was written to after the last block ends.
func unread(dir string, last int64) []string {
	if !hasWAL(dir) || !walIsNewer(dir, last) {
		return nil
	}
	end := time.UnixMilli(last).UTC().Format(time.RFC3339)
	return []string{fmt.Sprintf("%s: the write-ahead log is not read, so the history ends with the last block at %s: take a snapshot or give the server's URL for the last hours", dir, end)}
}

func walIsNewer(dir string, last int64) bool {
	entries, err := os.ReadDir(filepath.Join(dir, "wal"))
	if err != nil {
		return false
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().UnixMilli() > last {
			return true
		}
	}
	return false
}
