//go:build unix

package main

import (
	"context"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentco/agent/sdk"
)

type runIn struct {
	Command string `json:"command" doc:"Command for sh."`
}

type runOut struct {
	ExitCode int `json:"exit_code" doc:"Exit code; 128 + n when signal n ended it."`
}

func planRun(_ *sdk.Call[config], in runIn) (sdk.Plan, error) { return sdk.Runs(in.Command), nil }

func run(ctx context.Context, call *sdk.Call[config], in runIn) (out runOut, err error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", in.Command)
	cmd.Dir = call.Config.Root.Dir()
	cmd.Stdout, cmd.Stderr = call.Stdout(), call.Stderr()
	// A process group of its own, so that a signal reaches what the shell has started too, and not the provider.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second // for the end after that, or for others to let go of the output
	if err := cmd.Start(); err != nil {
		return out, sdk.Failed("start sh in %s: %v", cmd.Dir, err)
	}
	_ = cmd.Wait()                                // ProcessState says more
	_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) // what is left of the group
	status, signal := cmd.ProcessState.Sys().(syscall.WaitStatus), ""
	out.ExitCode = status.ExitStatus()
	if status.Signaled() {
		signal = unix.SignalName(status.Signal())
		out.ExitCode = 128 + int(status.Signal())
	}
	call.Exit(out.ExitCode, signal)
	if ctx.Err() != nil {
		call.Report("the command was ended, with exit code %d; what it had printed is above", out.ExitCode)
	}
	return out, ctx.Err()
}
