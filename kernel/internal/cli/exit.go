package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/engine"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// The exit codes, which scripts rely on.
const (
	exitDone      = 0   // done; for a call, completed, whatever its child process returned
	exitFailed    = 1   // a call failed or crashed, a provider could not be started, stdout could not be written
	exitUsage     = 2   // the command line, an argument of a call or a configuration file is wrong: nothing was done
	exitDenied    = 3   // a policy, a profile, a person or the lack of one refused a call
	exitCancelled = 130 // interrupted
)

// exitCode is the one place where errors become exit codes.
func exitCode(err error) int {
	var (
		ended   interface{ exitCode() int }
		usage   *usageError
		files   config.Diagnostics
		project *config.NoProjectError
		lookup  *engine.LookupError
		start   *engine.StartError
		scope   *engine.ScopeError
	)
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &ended):
		return ended.exitCode()
	case errors.Is(err, context.Canceled), errors.Is(err, errInterrupted):
		return exitCancelled
	case errors.As(err, &scope):
		return exitDenied
	case errors.As(err, &usage), errors.As(err, &files), errors.As(err, &project), errors.As(err, &lookup):
		return exitUsage
	case errors.As(err, &start) && start.Rejection != nil && start.Misconfigured(): // the provider block is wrong
		return exitUsage
	default:
		return exitFailed
	}
}

var (
	// errNobodyReads is a stdout that was closed, as by head(1). It is no reason to say anything.
	errNobodyReads = errors.New("nobody reads stdout any more")
	errInterrupted = errors.New("interrupted")
)

// usageError is a command line that makes no sense.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// callError is a call that did not complete.
type callError struct {
	outcome engine.Outcome
}

func (e *callError) Error() string {
	return fmt.Sprintf("%s %s", e.outcome.Operation, e.outcome.Status)
}

func (e *callError) exitCode() int {
	switch e.outcome.Status {
	case engine.Completed:
		return exitDone
	case engine.Denied:
		return exitDenied
	case engine.Cancelled:
		return exitCancelled
	default:
		if e.outcome.Error.GetCategory() == toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS {
			return exitUsage // whoever found it, the kernel or the provider
		}
		return exitFailed
	}
}
