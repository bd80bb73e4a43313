package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bhsize/bhsize/internal/diag"
	"github.com/bhsize/bhsize/internal/lint"
	"github.com/bhsize/bhsize/schema"
)

// defaultFile is read where no file is named.
const defaultFile = "bulkhead.yaml"

// expand resolves files and globs, sorted within each pattern. One file under
// two names, through a link or ./, is one file: its pools must not count twice. A pattern that matches nothing is an error, never an empty run.
func expand(patterns []string) ([]string, error) {
	if len(patterns) == 0 {
		patterns = []string{defaultFile}
	}
	var all []string
	var seen []fs.FileInfo
	for _, p := range patterns {
		matches, err := matching(p)
		if err != nil {
			return nil, err
		}
		for _, m := range matches {
			info, err := os.Stat(m)
			if err != nil {
				return nil, err
			}
			same := func(other fs.FileInfo) bool { return os.SameFile(info, other) }
			if !slices.ContainsFunc(seen, same) {
				all, seen = append(all, m), append(seen, info)
			}
		}
	}
	return all, nil
}

// matching returns what one pattern names. A file of exactly that name wins
// over reading it as a glob.
func matching(pattern string) ([]string, error) {
	info, err := os.Stat(pattern)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%q is a folder: name a file, or a glob such as %q", pattern, filepath.Join(pattern, "**", defaultFile))
	case err == nil:
		return []string{pattern}, nil
	}
	matches, globErr := doublestar.FilepathGlob(pattern, doublestar.WithFilesOnly())
	if globErr != nil {
		return nil, fmt.Errorf("%q is no valid pattern: %w", pattern, globErr)
	}
	if len(matches) == 0 {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("no such file: %q; name another, or write a first one (the README shows the smallest useful)", pattern)
		}
		return nil, err
	}
	slices.Sort(matches)
	return matches, nil
}

// load reads bulkhead files. What is wrong inside them is shown as findings
// and makes the run fail; an overcommitted pool does not, since mending that
// is what the command is for.
func (e *env) load(patterns []string) ([]*schema.File, error) {
	names, err := expand(patterns)
	if err != nil {
		return nil, err
	}
	var files []*schema.File
	broken := 0
	for _, name := range names {
		src, err := schema.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f := lint.Read(name, src)
		if f.Parsed != nil {
			files = append(files, f.Parsed)
			continue
		}
		broken++
		if err := diag.Text(e.err, lint.Findings(f.Problems), sourcesOf([]*lint.File{f})); err != nil {
			return nil, err
		}
	}
	if broken > 0 {
		return nil, &exit{code: exitUsage}
	}
	return files, nil
}

// sourcesOf gives the text that was judged, which is not read a second time.
func sourcesOf(files []*lint.File) diag.Sources {
	return func(name string) []byte {
		for _, f := range files {
			if f.Name == name {
				return f.Source
			}
		}
		return nil
	}
}
