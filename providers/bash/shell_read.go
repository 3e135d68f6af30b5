package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/agentco/agent/providers/bash/internal/readonly"
	"github.com/agentco/agent/providers/bash/internal/runner"
	"github.com/agentco/agent/sdk"
)

type readArguments struct {
	Command string `json:"command" doc:"Shell command or script that only reads."`
	Cwd     string `json:"cwd,omitempty" doc:"Directory to start in. Default: the working directory of the session."`
}

// shellRead runs one command that only reads.
func shellRead(ctx context.Context, call *sdk.Call[config], in readArguments) (result, error) {
	plan, err := judge(call.Config, in)
	if err != nil {
		return result{}, err
	}
	if err := inspect(ctx, call, in, plan); err != nil {
		return result{}, err
	}
	command, files, err := prepareRead(call, in, plan.Script)
	defer files.close()
	if err != nil {
		return result{}, err
	}
	return inForeground(ctx, call, command)
}

// judge decides whether a command only reads, for a call and its preview alike.
func judge(c *config, in readArguments) (readonly.Plan, error) {
	if err := check(c, arguments{Command: in.Command, Cwd: in.Cwd}); err != nil {
		return readonly.Plan{}, err
	}
	if !c.reading.understood(c.shell) {
		return readonly.Plan{}, sdk.Denied("run a command that only reads with %s: only bash and other POSIX shells are understood; use the bash tool, or configure another shell", c.shell)
	}
	plan, err := c.reading.rules.Check(in.Command)
	var refused *readonly.Refused
	if errors.As(err, &refused) {
		return plan, sdk.Denied("not run, as it is not known to only read: %w; nothing was run", refused).With("word", refused.Word)
	}
	return plan, err
}

// inspect asks the repositories that a command looks at for programs that Git would run.
func inspect(ctx context.Context, call *sdk.Call[config], in readArguments, plan readonly.Plan) error {
	if plan.Before == "" {
		return nil
	}
	const limit = 10 * time.Second
	command, files, err := prepareRead(call, in, plan.Before)
	defer files.close()
	if err != nil {
		return err
	}
	command.Timeout = limit
	var said strings.Builder
	outcome, err := runner.Run(ctx, call.Config.pool, command, func(stream runner.Stream, p []byte) {
		if stream == runner.Stdout {
			said.Write(p)
		}
	})
	switch {
	case err != nil:
		return failure(command, result{}, err)
	case outcome.Reason == runner.Cancelled:
		call.Report("no command was run")
		return ctx.Err()
	case outcome.Reason != runner.Exited:
		return sdk.TimedOut("ask Git for its settings: it did not answer within %v; nothing was run; try again, or use the bash tool", limit)
	}
	if settings := readonly.Hazards(said.String(), call.Config.reading.homeInside); len(settings) > 0 {
		return sdk.Denied("not run, as Git would run programs that the repository chose (%s); use the bash tool, or remove the settings", strings.Join(settings, ", "))
	}
	return nil
}

// prepareRead is prepare for a script that only reads.
func prepareRead(call *sdk.Call[config], in readArguments, script string) (runner.Command, openFiles, error) {
	command, files, err := prepare(call, arguments{Command: script, Cwd: in.Cwd})
	command.Spec.Env = call.Config.reading.environment(command.Spec.Env)
	command.Spec.Sandbox = call.Config.reading.sandbox()
	return command, files, err
}

// previewRead shows the command line and where it would run.
func previewRead(call *sdk.Call[config], in readArguments) (sdk.Plan, error) {
	if _, err := judge(call.Config, in); err != nil {
		return sdk.Plan{}, err
	}
	return preview(call, arguments{Command: in.Command, Cwd: in.Cwd})
}
