// Package cli is the command conformance: arguments in, a report out, an exit code.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/agentco/agent/conformance"
)

// The exit codes, which scripts rely on.
const (
	exitHolds       = 0   // no MUST and no MUST NOT is broken
	exitBroken      = 1   // at least one is
	exitUsage       = 2   // the command line, the scenario or the configuration is wrong, or a report cannot be written
	exitStart       = 3   // the binary cannot be executed
	exitInterrupted = 130 // by Ctrl-C or SIGTERM
)

// Main runs the command and returns its exit code. Ctrl-C ends the providers too.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second Ctrl-C ends what the first one could not.
	context.AfterFunc(ctx, stop)
	f, err := parse(args)
	switch {
	case errors.Is(err, errHelp):
		fmt.Fprint(stdout, help)
		return exitHolds
	case err != nil:
		fmt.Fprintf(stderr, "conformance: %v\nSee conformance --help.\n", err)
		return exitUsage
	case f.list:
		return exit(stderr, list(stdout, f))
	}
	return exit(stderr, try(ctx, f, stdout, stderr))
}

// errBroken is a provider that breaks a MUST; the report has said so.
var errBroken = errors.New("the provider breaks the protocol")

func exit(stderr io.Writer, err error) int {
	var start *conformance.StartError
	if err != nil && !errors.Is(err, errBroken) {
		fmt.Fprintf(stderr, "conformance: %v\n", err)
	}
	switch {
	case err == nil:
		return exitHolds
	case errors.Is(err, errBroken):
		return exitBroken
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &start):
		return exitStart
	default:
		return exitUsage
	}
}

func try(ctx context.Context, f flags, stdout, stderr io.Writer) error {
	o := f.options
	if f.verbose {
		o.Stderr = stderr
	}
	p := newProgress(stderr, f)
	o.Seen = p.seen
	report, err := conformance.Check(ctx, f.command, o)
	p.clear()
	if err != nil {
		return err
	}
	if f.junit != "" {
		if err := writeFile(f.junit, func(w io.Writer) error { return writeJUnit(w, report) }); err != nil {
			return err
		}
	}
	if f.json {
		err = writeJSON(stdout, report)
	} else {
		err = newTable(stdout, f.verbose).write(report)
	}
	if err == nil && !report.OK() {
		err = errBroken
	}
	return err
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return errors.Join(write(f), f.Close())
}
