package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentco/agent/providers/bash/internal/runner"
	"github.com/agentco/agent/sdk"
)

type arguments struct {
	Command     string `json:"command" doc:"Shell command or script. It may have many lines."`
	Cwd         string `json:"cwd,omitempty" doc:"Directory to start in. Default: the working directory of the session."`
	TimeoutMS   int    `json:"timeout_ms,omitempty" min:"1" doc:"Milliseconds after which the command is stopped. Default: 120000; at most 600000, unless configured otherwise."`
	Stdin       string `json:"stdin,omitempty" doc:"Text that the command reads from its standard input. Default: nothing, it reads the end at once."`
	Background  bool   `json:"background,omitempty" doc:"Return at once with a session_id, and let the command go on after the call. Without timeout_ms it has no limit."`
	OnTimeout   string `json:"on_timeout,omitempty" enum:"stop,background" doc:"What happens when timeout_ms has passed: stop the command (default), or let it go on in the background, with a session_id."`
	Description string `json:"description,omitempty" doc:"What the command is for, in a few words, for whoever approves it."`
}

// onTimeoutBackground is the OnTimeout that does not stop the command.
const onTimeoutBackground = "background"

type result struct {
	ExitCode    *int   `json:"exit_code,omitempty" doc:"Exit code of the shell; 128+n when it was ended by signal n. Absent while it runs in the background."`
	Signal      string `json:"signal,omitempty" doc:"Signal that ended the shell, such as SIGKILL."`
	Summary     string `json:"summary" doc:"One line: what failed, or the last line that says anything."`
	Output      string `json:"output" doc:"Stdout and stderr in the order in which they came; of a long output its beginning and its end."`
	OutputBytes int64  `json:"output_bytes" doc:"How many bytes were printed in all."`
	OutputPath  string `json:"output_path,omitempty" doc:"File with the whole output (its first 512 MiB), when it is more than output shows. It is kept for a day after the session."`
	DurationMS  int64  `json:"duration_ms" doc:"How long the command took, in milliseconds."`
	TimedOut    bool   `json:"timed_out,omitempty" doc:"Whether timeout_ms has passed."`
	SessionID   string `json:"session_id,omitempty" doc:"Id of the background process, for process_output (go on at offset output_bytes), process_input and process_signal."`
}

// bash runs one command.
func bash(ctx context.Context, call *sdk.Call[config], in arguments) (result, error) {
	if err := check(call.Config, in); err != nil {
		return result{}, err
	}
	command, files, err := prepare(call, in)
	defer files.close()
	if err != nil {
		return result{}, err
	}
	if in.Background || in.OnTimeout == onTimeoutBackground {
		return inBackground(ctx, call, in, command)
	}
	return inForeground(ctx, call, command)
}

// inForeground runs a command that ends with its call.
func inForeground(ctx context.Context, call *sdk.Call[config], command runner.Command) (result, error) {
	record, err := begin(ctx, call)
	if err != nil {
		return result{}, err
	}
	outcome, err := runner.Run(ctx, call.Config.pool, command, record.deliver)
	return finish(ctx, call, command, record, outcome, err)
}

// begin is the last moment in which nothing has happened yet.
func begin(ctx context.Context, call *sdk.Call[config]) (*record, error) {
	if err := ctx.Err(); err != nil {
		call.Report("no command was run")
		return nil, err
	}
	call.Status("starting process")
	return newRecord(call), nil
}

// finish says how a call ended together with its command.
func finish(ctx context.Context, call *sdk.Call[config], command runner.Command, record *record, outcome runner.Outcome, err error) (result, error) {
	out := record.close(outcome)
	if err != nil {
		return result{}, failure(command, out, err)
	}
	call.Exit(outcome.Status.Code, outcome.Status.Signal)
	switch outcome.Reason {
	case runner.Cancelled:
		report(call, out, "process received "+signals(command, outcome)+"; output above is valid")
		return result{}, ctx.Err()
	case runner.TimedOut, runner.Idled:
		return result{}, stopped(call.Config, command, outcome, out)
	default:
		return out, nil
	}
}

// report says how a cancelled command ended. What it printed and the kernel had not read is
// lost on the wire, so a file that has it is named.
func report(call *sdk.Call[config], out result, note string) {
	if out.OutputPath != "" {
		note += fmt.Sprintf("; all %d bytes are in %s", out.OutputBytes, out.OutputPath)
	}
	call.Report("%s", note)
}

// check refuses arguments that make no sense, for a call and its preview alike.
func check(c *config, in arguments) error {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return sdk.InvalidArgument("command", "it is empty; give a command to run")
	case strings.ContainsRune(in.Command, 0):
		return sdk.InvalidArgument("command", `it contains a NUL byte, which no shell can read; let printf '\0' write it`)
	case strings.ContainsRune(in.Cwd, 0):
		return sdk.InvalidArgument("cwd", "it contains a NUL byte; give the path of a directory")
	case in.Background && in.OnTimeout != "":
		return sdk.InvalidArgument("on_timeout", "it is for a command that starts in the foreground; leave it out, or background")
	case in.TimeoutMS > c.MaxTimeout:
		return sdk.InvalidArgument("timeout_ms", "%d is more than the configuration allows (max_timeout_ms is %d)", in.TimeoutMS, c.MaxTimeout)
	}
	return nil
}

// timeout is the limit of a call in milliseconds, 0 for none.
func (in arguments) timeout(c *config) int {
	if in.TimeoutMS == 0 && !in.Background {
		return c.DefaultTimeout
	}
	return in.TimeoutMS
}
