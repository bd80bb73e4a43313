// Generate writes the metrics history of the checkout example and the truth
// behind it. The same program gives the same bytes.
//
//	go run ./examples/checkout/generate                     writes examples/checkout/{history,truth.json}
//	go run ./examples/checkout/generate -check              fails when the committed files are not current
//	go run ./examples/checkout/generate -openmetrics FILE   writes the history as text; gzip for a name in .gz
package main

import (
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/bhsize/bhsize/internal/synth"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintf(os.Stderr, "generate: %v\n", err)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	out := flags.String("out", filepath.Join("examples", "checkout"), "folder that history/ and truth.json lie in")
	check := flags.Bool("check", false, "write nothing; fail when the files in the folder are not current")
	text := flags.String("openmetrics", "", "write the history to this file as OpenMetrics text instead")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: there are only flags, see -help", flags.Arg(0))
	}
	history, truth, err := synth.Generate(checkout())
	switch {
	case err != nil:
		return err
	case *text != "":
		return writeText(*text, history)
	case *check:
		return compare(ctx, *out, history, truth)
	}
	return write(ctx, *out, history, truth)
}

// write replaces history/ and truth.json in dir.
func write(ctx context.Context, dir string, history *synth.History, truth *synth.Truth) error {
	blocks := filepath.Join(dir, "history")
	if err := os.RemoveAll(blocks); err != nil {
		return err
	}
	if _, err := history.WriteBlock(ctx, blocks); err != nil {
		return err
	}
	return create(filepath.Join(dir, "truth.json"), truth.WriteJSON)
}

func writeText(path string, history *synth.History) error {
	return create(path, func(w io.Writer) error {
		if !strings.HasSuffix(path, ".gz") {
			return history.WriteOpenMetrics(w)
		}
		z := gzip.NewWriter(w)
		return errors.Join(history.WriteOpenMetrics(z), z.Close())
	})
}

// create writes a file through fill, and reports a failing close as well.
func create(path string, fill func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(fill(f), f.Close())
}
