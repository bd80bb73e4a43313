package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/storage"
)

// blocks is a folder of TSDB blocks, or one block. tsdb.DBReadOnly would read
// them too, but makes a sandbox folder beside them and replays the whole
// write-ahead log first (and see block).
type blocks struct {
	blocks      []*block
	first, last int64
}

// openFolder opens every block in dir, and says what it leaves unread.
func openFolder(ctx context.Context, dir string) (source, []string, error) {
	found, err := findBlocks(dir)
	if err != nil {
		return nil, nil, err
	}
	b := &blocks{first: noFirst, last: noLast}
	for _, path := range found {
		one, err := openBlock(path)
		if err != nil {
			return nil, nil, errors.Join(err, b.close())
		}
		b.blocks = append(b.blocks, one)
	}
	if err := b.findBounds(ctx, dir); err != nil {
		return nil, nil, errors.Join(err, b.close())
	}
	return b, unread(dir, b.last), nil
}

// findBlocks lists the blocks in dir, sorted by name, which for blocks is by age.
func findBlocks(dir string) ([]string, error) {
	if isFile(filepath.Join(dir, "meta.json")) {
		return []string{dir}, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot open metrics history: %w", err)
	}
	var found []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case !isBlockName(e.Name()) || !isDir(path):
		case !isFile(filepath.Join(path, "meta.json")):
			return nil, fmt.Errorf("%s is half a block, it has no meta.json: copy it again, or move it out of %s", path, dir)
		default:
			found = append(found, path)
		}
	}
	if len(found) == 0 {
		return nil, noBlocks(dir)
	}
	return found, nil
}

func noBlocks(dir string) error {
	if hasWAL(dir) {
		return fmt.Errorf("%s holds no block yet, only a write-ahead log, which is not read: take a snapshot (POST /api/v1/admin/tsdb/snapshot), or give the server's URL", dir)
	}
	return fmt.Errorf("%s holds no TSDB block: give a Prometheus data directory, a snapshot, or an OpenMetrics file", dir)
}

// isBlockName tells a ULID: 26 characters of Crockford's base 32.
func isBlockName(name string) bool {
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	return len(name) == 26 && name[0] <= '7' && strings.Trim(name, alphabet) == ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// openBlock opens one block. Its index is read from mapped memory; a damaged
// one may send the reader out of bounds, which is an error like any other.
func openBlock(path string) (b *block, err error) {
	defer func() {
		if p := recover(); p != nil {
			b, err = nil, damaged(path, fmt.Errorf("%v", p))
		}
	}()
	b, err = readBlock(path)
	switch {
	case err == nil:
		return b, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("block %s: %w: make it readable for this user", path, err)
	case strings.Contains(err.Error(), "version"):
		return nil, fmt.Errorf("block %s: %w: it was written by a version of Prometheus that is not supported; give the server's URL instead", path, err)
	}
	return nil, damaged(path, err)
}

func damaged(path string, err error) error {
	return fmt.Errorf("block %s is damaged or incomplete: %w: copy it again, or move it out of the folder", path, err)
}

func (b *blocks) bounds() (first, last int64) { return b.first, b.last }

func (b *blocks) close() error {
	var errs []error
	for _, one := range b.blocks {
		errs = append(errs, one.close())
	}
	return errors.Join(errs...)
}

// Querier implements storage.Queryable over all blocks that overlap the range.
// Blocks may overlap each other, as they do while Prometheus compacts.
func (b *blocks) Querier(mint, maxt int64) (storage.Querier, error) {
	var qs []storage.Querier
	for _, one := range b.blocks {
		if one.overlaps(mint, maxt) {
			qs = append(qs, &blockQuerier{b: one, mint: mint, maxt: maxt})
		}
	}
	return storage.NewMergeQuerier(qs, nil, storage.ChainedSeriesMerge), nil
}

// hasWAL says whether the folder has a write-ahead log with anything in it.
func hasWAL(dir string) bool {
	entries, err := os.ReadDir(filepath.Join(dir, "wal"))
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		info, err := e.Info()
		return err == nil && info.Mode().IsRegular() && info.Size() > 0
	})
}
