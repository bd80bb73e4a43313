package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/google/renameio/v2"

	"github.com/bhsize/bhsize/internal/plan"
	"github.com/bhsize/bhsize/schema"
)

// edited is a file with its proposed content.
type edited struct {
	file *schema.File
	text []byte
}

// edits applies the plan to the text of every file.
func edits(p *plan.Plan) ([]edited, error) {
	var all []edited
	for _, s := range p.Services {
		text, err := s.File.Edit(s.Changes())
		if err != nil {
			return nil, err
		}
		all = append(all, edited{s.File, text})
	}
	return all, nil
}

// diffPlan prints what --write would change, for people and for patch.
func (e *env) diffPlan(p *plan.Plan) error {
	all, err := edits(p)
	if err != nil {
		return err
	}
	for _, f := range all {
		text := udiff.Unified("a/"+f.file.Name, "b/"+f.file.Name, string(f.file.Source), string(f.text))
		if _, err := e.out.Write([]byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// writePlan writes all files or, when anything is in the way, none.
func (e *env) writePlan(f *recommendFlags, p *plan.Plan) error {
	if err := f.writable(p); err != nil {
		return err
	}
	all, err := edits(p)
	if err != nil {
		return fmt.Errorf("%w; nothing was written", err)
	}
	return e.replaceAll(all)
}

// replaceAll prepares every new file beside its old one before the first is
// put in its place, so that what can fail has failed by then.
func (e *env) replaceAll(all []edited) error {
	var pending []*renameio.PendingFile
	defer func() {
		for _, p := range pending {
			_ = p.Cleanup() // those that were put in place are gone from it
		}
	}()
	var changed []edited
	for _, f := range all {
		if bytes.Equal(f.text, f.file.Source) {
			e.say("%s is up to date", f.file.Name)
			continue
		}
		p, err := prepare(f)
		if err != nil {
			return fmt.Errorf("%w; nothing was written", err)
		}
		pending, changed = append(pending, p), append(changed, f)
	}
	for i, p := range pending {
		if err := p.CloseAtomicallyReplace(); err != nil {
			return fmt.Errorf("%s: %w; it was not written, those named above were", changed[i].file.Name, err)
		}
		e.say("wrote %s", changed[i].file.Name)
	}
	return nil
}

func (f *recommendFlags) writable(p *plan.Plan) error {
	failed := p.Names(func(b *plan.Bulkhead) bool { return b.Failure != "" })
	low := p.Names(func(b *plan.Bulkhead) bool { return b.Confidence == plan.ConfidenceLow })
	switch {
	case len(failed) > 0 && !f.partial:
		return &exit{code: exitUnsized, err: fmt.Errorf("could not be sized: %s; nothing was written", strings.Join(failed, ", ")),
			next: "mend them, or write the others with --partial"}
	case !p.Writable():
		return &exit{code: exitFindings, err: errors.New("the recommendation does not fit even after all cuts: nothing was written")}
	case f.strict && len(low) > 0:
		return &exit{code: exitFindings, err: fmt.Errorf("--strict: of low confidence: %s; nothing was written", strings.Join(low, ", "))}
	}
	return nil
}

// prepare writes the new content beside the file, with its mode, and behind a
// link rather than over it. A file that changed meanwhile is left alone.
func prepare(f edited) (*renameio.PendingFile, error) {
	path, err := filepath.EvalSymlinks(f.file.Name)
	if err != nil {
		return nil, err
	}
	if now, err := schema.ReadFile(path); err != nil || !bytes.Equal(now, f.file.Source) {
		return nil, fmt.Errorf("%s changed while it was being measured: run again", f.file.Name)
	}
	p, err := renameio.NewPendingFile(path, renameio.WithExistingPermissions())
	if err != nil {
		return nil, err
	}
	if _, err := p.Write(f.text); err != nil {
		return nil, errors.Join(err, p.Cleanup())
	}
	return p, nil
}
