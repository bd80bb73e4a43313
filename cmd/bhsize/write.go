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

	"github.com/bhsize/bhsize/internal/diag"
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
		name := diag.Plain(filepath.ToSlash(f.file.Name))
		text := udiff.Unified("a/"+name, "b/"+name, string(f.file.Source), string(f.text))
		if _, err := e.out.Write([]byte(e.showable(text))); err != nil {
			return err
		}
	}
	return nil
}

// showable hides secrets in a diff; on a terminal it also shows control
// characters instead of letting them act. For patch nothing else changes.
func (e *env) showable(diff string) string {
	var b strings.Builder
	hidden := false
	for line := range strings.Lines(diff) {
		text := strings.TrimSuffix(line, "\n")
		shown := diag.RedactLine(text)
		hidden = hidden || shown != text
		if e.screen {
			shown = diag.Plain(shown)
		}
		b.WriteString(shown + line[len(text):])
	}
	if hidden {
		e.say("the diff hides a secret in an address, so that patch may refuse it: use --write")
	}
	return b.String()
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
	case len(f.unreached) > 0 && !f.partial:
		return &exit{code: exitUnsized, err: fmt.Errorf("%w; nothing was written", f.notReached()),
			next: "mend that, or write the others with --partial"}
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
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o222 == 0 {
		return nil, fmt.Errorf("%s is read-only: make it writable first", f.file.Name)
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
