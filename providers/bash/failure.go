package main

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/agentco/agent/providers/bash/internal/background"
	"github.com/agentco/agent/providers/bash/internal/keeper"
	"github.com/agentco/agent/providers/bash/internal/runner"
	"github.com/agentco/agent/providers/bash/internal/terminal"
	"github.com/agentco/agent/sdk"
)

// failure explains a command that could not be started, or of whose end nothing is known.
func failure(command runner.Command, out result, err error) error {
	var refused *keeper.StartError
	var stuck *runner.StuckError
	switch {
	case errors.As(err, &refused):
		return sdk.Failed("%w (in %s); no command was run%s", refused, command.Spec.Dir.Name(), remedy(err))
	case errors.Is(err, keeper.ErrClosed), errors.Is(err, background.ErrClosed):
		return sdk.Failed("the provider is shutting down; the command was not run; try again")
	case errors.Is(err, keeper.ErrLost) && command.Spec.Sandbox.Check() != nil:
		return sdk.Failed("confine the command: %w; no command was run", command.Spec.Sandbox.Check())
	case errors.Is(err, keeper.ErrLost):
		return withOutput(sdk.Failed("the command was lost: %w, and so the command was killed too; what it had already done stands", err), out)
	case errors.As(err, &stuck) && stuck.Exited:
		return withEnd(sdk.Failed("the shell exited with %d, and the rest of the command cannot be ended: %w; end it by hand", *out.ExitCode, err), out)
	case errors.As(err, &stuck):
		return withOutput(sdk.Failed("end the command: %w; end it by hand", err), out)
	default:
		return notRun(err)
	}
}

// notRun explains why nothing could be started.
func notRun(err error) *sdk.Error {
	return sdk.Failed("run the command: %w; no command was run%s", err, remedy(err))
}

// remedy is what to do about a command that cannot be started, as far as that is known.
func remedy(err error) string {
	var refused *keeper.StartError
	switch {
	case errors.Is(err, syscall.E2BIG):
		return "; make the environment of commands smaller (env and env_allow of the configuration): a variable may have 128 KiB"
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM):
		return "; the limit on processes or memory is reached: end some first"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "; end processes in the background, or let the provider open more files (ulimit -n)"
	case errors.Is(err, terminal.ErrUnavailable):
		return "; pty = false in the configuration does without terminals"
	case errors.As(err, &refused):
		return "; see that the shell can be executed, or name another one (shell of the configuration)"
	default:
		return ""
	}
}

// stopped explains a command that took too long.
func stopped(c *config, command runner.Command, o runner.Outcome, out result) error {
	limit := fmt.Sprintf("it did not end within %v; if it needs longer, set timeout_ms (at most %d)", command.Timeout, c.MaxTimeout)
	if o.Reason == runner.Idled {
		limit = fmt.Sprintf("it printed nothing for %v (idle_timeout_ms of the configuration); if it waits for input, give stdin", command.Idle)
	}
	return withEnd(sdk.TimedOut("the command was stopped with %s: %s; the details have its output", signals(command, o), limit), out)
}

// signals names what a command was stopped with.
func signals(command runner.Command, o runner.Outcome) string {
	if o.Killed {
		return fmt.Sprintf("SIGTERM and, after %v, SIGKILL", command.Grace)
	}
	return "SIGTERM"
}

// withEnd says in an error how the command ended, like a result.
func withEnd(e *sdk.Error, out result) *sdk.Error {
	e = withOutput(e, out)
	e.Details["exit_code"], e.Details["summary"], e.Details["timed_out"] = *out.ExitCode, out.Summary, out.TimedOut
	if out.Signal != "" {
		e.Details["signal"] = out.Signal
	}
	return e
}

// withOutput says in an error what was printed, like a result.
func withOutput(e *sdk.Error, out result) *sdk.Error {
	e.Details = map[string]any{"output": out.Output, "output_bytes": out.OutputBytes, "duration_ms": out.DurationMS}
	if out.OutputPath != "" {
		e.Details["output_path"] = out.OutputPath
	}
	return e
}
