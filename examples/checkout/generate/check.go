package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/bhsize/bhsize/internal/synth"
)

// compare writes the files into a folder of their own and compares them with
// those in dir.
func compare(ctx context.Context, dir string, history *synth.History, truth *synth.Truth) (err error) {
	fresh, err := os.MkdirTemp("", "checkout-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(fresh)) }()
	if err := write(ctx, fresh, history, truth); err != nil {
		return err
	}
	want, err := generated(fresh)
	if err != nil {
		return err
	}
	have, err := generated(dir)
	if err != nil {
		return err
	}
	return differences(dir, want, have)
}

// generated reads what this program writes in dir, by name.
func generated(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, root := range []string{"history", "truth.json"} {
		err := filepath.WalkDir(filepath.Join(dir, root), func(path string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) || (err == nil && e.IsDir()) {
				return nil
			}
			if err != nil {
				return err
			}
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			files[name], err = os.ReadFile(path)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

func differences(dir string, want, have map[string][]byte) error {
	names := maps.Clone(want)
	maps.Copy(names, have)
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(names)) {
		w, wanted := want[name]
		h, there := have[name]
		path := filepath.Join(dir, name)
		switch {
		case !there:
			errs = append(errs, fmt.Errorf("%s is missing", path))
		case !wanted:
			errs = append(errs, fmt.Errorf("%s is not written by this program any more", path))
		case !bytes.Equal(w, h):
			errs = append(errs, fmt.Errorf("%s is not current", path))
		}
	}
	if errs != nil {
		errs = append(errs, errors.New("run go run ./examples/checkout/generate and commit the result"))
	}
	return errors.Join(errs...)
}
