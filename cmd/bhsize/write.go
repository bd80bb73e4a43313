package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
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
	for _, f := range all {
		if bytes.Equal(f.text, f.file.Source) {
			e.say("%s is up to date", f.file.Name)
			continue
		}
		if err := replace(f.file, f.text); err != nil {
			return err
		}
		e.say("wrote %s", f.file.Name)
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

// replace writes the whole file or nothing, keeps its mode, and follows a
// link instead of replacing it. A file that changed meanwhile is left alone.
func replace(f *schema.File, text []byte) error {
	path, err := filepath.EvalSymlinks(f.Name)
	if err != nil {
		return err
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, f.Source) {
		return fmt.Errorf("%s changed while it was being measured: nothing was written to it; run again", f.Name)
	}
	return renameio.WriteFile(path, text, 0o644, renameio.WithExistingPermissions())
}
