package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/agentco/agent/providers/bash/internal/background"
	"github.com/agentco/agent/providers/bash/internal/runner"
	"github.com/agentco/agent/sdk"
)

const (
	// firstOutput is how long a call waits for something to show of a command that it
	// leaves in the background.
	firstOutput = 200 * time.Millisecond
	// pause in the output after which what has come is handed over.
	pause = 30 * time.Millisecond
	// pauseLimit bounds the wait for a pause of somebody who never makes one.
	pauseLimit = 300 * time.Millisecond
)

// inBackground runs a command that may outlive its call.
func inBackground(ctx context.Context, call *sdk.Call[config], in arguments, command runner.Command) (result, error) {
	c := call.Config
	record, err := begin(ctx, call)
	if err != nil {
		return result{}, err
	}
	about := background.About{Session: call.SessionID, Command: in.Command, Description: in.Description, Dir: command.Spec.Dir.Name()}
	process, err := c.background.Start(about, c.MaxBackground, record.transcript, func() (*runner.Execution, error) {
		return runner.Start(c.pool, command, record.deliver)
	})
	switch {
	case errors.Is(err, background.ErrFull) && c.MaxBackground == 0:
		return result{}, sdk.Denied("run in the background: the configuration allows no such processes (max_background is 0); no command was run")
	case errors.Is(err, background.ErrFull):
		return result{}, sdk.Failed("run in the background: %d processes of this session do already (max_background of the configuration); "+
			"end one with process_signal first; no command was run", c.MaxBackground)
	case err != nil:
		return result{}, failure(command, record.close(runner.Outcome{}), err)
	}
	moves := in.Background
	if in.Background {
		awaitFirstOutput(ctx, process)
	} else {
		moves = outlasts(ctx, process, milliseconds(in.timeout(c)))
	}
	if ctx.Err() != nil || !moves {
		process.Stop()
		<-process.Done()
		outcome, err := process.Outcome()
		return finish(ctx, call, command, record, outcome, err)
	}
	out := handOver(call, process, record)
	out.TimedOut = !in.Background
	return out, nil
}

// find returns the background process that a call is about.
func find(call *sdk.Call[config], id string) (*background.Process, error) {
	if p := call.Config.background.Find(call.SessionID, id); p != nil {
		return p, nil
	}
	var ids []string
	for _, p := range call.Config.background.List(call.SessionID) {
		ids = append(ids, p.ID)
	}
	if ids == nil {
		return nil, sdk.NotFound("there is no process %q, and none at all in the background; those of an earlier session or of a provider that has crashed have ended; bash with background = true starts one", id)
	}
	return nil, sdk.NotFound("there is no process %q in the background; there are %s", id, strings.Join(ids, ", "))
}

// awaitFirstOutput waits a little, so that the result has something to show.
func awaitFirstOutput(ctx context.Context, process *background.Process) {
	ctx, cancel := context.WithTimeout(ctx, firstOutput)
	defer cancel()
	process.Output().Await(ctx, 0)
	awaitPause(ctx, process)
}

// awaitPause waits until what is being printed has probably all come.
func awaitPause(ctx context.Context, process *background.Process) {
	ctx, cancel := context.WithTimeout(ctx, pauseLimit)
	defer cancel()
	process.Output().AwaitSilence(ctx, pause)
}

// outlasts reports whether process still runs when the limit has passed.
func outlasts(ctx context.Context, process *background.Process, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-timer.C:
		return process.State() == background.Running
	case <-process.Done():
	case <-ctx.Done():
	}
	return false
}

// goesOn begins the summary of a command that has not ended.
const goesOn = "running in the background as "

// handOver leaves process in the background and says how it fares.
func handOver(call *sdk.Call[config], process *background.Process, record *record) result {
	out := shown(record.detach(), record.log)
	out.SessionID, out.DurationMS = process.ID, process.Duration().Milliseconds()
	out.Summary = goesOn + process.ID
	call.Config.background.Keep(process)
	if process.State() == background.Running {
		return out
	}
	outcome, err := process.Outcome()
	out.Summary = record.transcript.Summary(outcome.Status.Code, outcome.Status.Signal)
	if err != nil {
		out.Summary = "lost: " + err.Error()
		return out
	}
	out.ended(outcome)
	call.Exit(outcome.Status.Code, outcome.Status.Signal)
	return out
}
