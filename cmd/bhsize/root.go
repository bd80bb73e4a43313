package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bhsize/bhsize/internal/diag"
)

// Exit codes. Where several apply, the gravest wins.
const (
	exitFine        = 0
	exitFindings    = 1   // findings, a recommendation that does not fit, low confidence with --strict
	exitUsage       = 2   // usage, an unreadable path, an invalid file
	exitUnsized     = 3   // Prometheus unreachable, or some bulkhead could not be sized
	exitInterrupted = 130 // the user's Ctrl-C
)

// exit is an error that has been told already, or that needs a code of its own.
type exit struct {
	code int
	err  error  // nil: nothing more to say
	next string // what to do about it
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// env is what a command may touch of the outside world.
type env struct {
	out, err io.Writer // results; everything else
	width    int       // columns of the results
	live     bool      // err is a terminal: a progress bar may move on it
	screen   bool      // out is a terminal: control characters would act on it
}

// run is the whole program but for the process: tests call it too.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return newEnv(stdout, stderr).execute(ctx, args)
}

func (e *env) execute(ctx context.Context, args []string) int {
	root := newRoot(e)
	root.SetArgs(args)
	root.SetOut(e.out)
	root.SetErr(e.err)
	err := root.ExecuteContext(ctx)
	return e.conclude(ctx, err)
}

func newEnv(stdout, stderr io.Writer) *env {
	environ := os.Environ()
	return &env{
		out: colorprofile.NewWriter(stdout, environ), err: colorprofile.NewWriter(stderr, environ),
		width: width(stdout), live: isTerminal(stderr), screen: isTerminal(stdout),
	}
}

// wide is the width for a pipe or a file: nothing wraps there, so tables may
// be as wide as they like within reason.
const wide = 160

func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return wide
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// conclude tells an error and finds the exit code.
func (e *env) conclude(ctx context.Context, err error) int {
	if err == nil {
		return exitFine
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		e.say("interrupted")
		return exitInterrupted
	}
	code := exitUsage
	var known *exit
	if errors.As(err, &known) {
		code = known.code
	}
	if text := err.Error(); text != "" {
		e.say("error: %s", text)
	}
	if known != nil && known.next != "" {
		e.hint(known.next)
	}
	return code
}

// say tells people something, on stderr.
func (e *env) say(format string, args ...any) {
	_, _ = fmt.Fprintf(e.err, "bhsize: %s\n", diag.Plain(diag.Redact(fmt.Sprintf(format, args...))))
}

// hint tells what to do about the line before.
func (e *env) hint(text string) { _, _ = fmt.Fprintf(e.err, "  = %s\n", diag.Plain(text)) }

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "bhsize",
		Short: "size bulkheads from what Prometheus measured, and keep them honest",
		Long: `bhsize sizes bulkheads: the cap on calls that one process may have in flight to
one dependency, so that a stalled dependency floods its own compartment only.

It asks Prometheus for the peak rate and the healthy p99 of every dependency,
computes permits = rate x latency x headroom (Little's law) with the retries
that the load will bring, and checks that all permits together fit the pool.`,
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(newRecommend(e), newSize(e), newLint(e), newPresets(e), newSchema(e), newVersion(e))
	return root
}

// noPaths refuses arguments where files are named by a flag.
func noPaths(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q: files are named with -f", args[0])
	}
	return nil
}
