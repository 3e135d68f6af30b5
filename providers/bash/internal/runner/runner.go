// Package runner runs one command from its start until nothing of it is left, and
// delivers what it prints on the way.
//
//	command ──► terminal (stdout) ──► reader ─┐
//	        └─► terminal (stderr) ──► reader ─┴─► relay ──► pump ──► deliver
//
// A command is over when its shell has exited, both streams have ended or been silent
// for 200 ms, and whatever it left running has been ended.
package runner

import (
	"context"
	"errors"
	"time"

	"github.com/agentco/agent/providers/bash/internal/keeper"
	"github.com/agentco/agent/providers/bash/internal/terminal"
)

// Command says what to run and when to stop it.
type Command struct {
	Spec     keeper.Spec    // without Stdout and Stderr
	Terminal *terminal.Size // nil for pipes

	Timeout time.Duration
	Idle    time.Duration // the longest time without output; 0 for no limit
	Grace   time.Duration // between SIGTERM and SIGKILL

	// Deserted, if not nil, reports whether whoever wanted the command is gone, and with
	// it the reason to be patient. It is asked several times during the grace.
	Deserted func() bool
}

// Reason is why a command is over.
type Reason int

// The reasons.
const (
	Exited    Reason = iota
	TimedOut         // Command.Timeout has passed
	Idled            // Command.Idle has passed
	Cancelled        // the context is done
)

// ErrStuck says that a process of the command is left, which happens when it waits in the
// system for something such as a dead disk. It goes on being killed.
var ErrStuck = errors.New("a process of it does not die of SIGKILL yet")

// Outcome is how a command ended.
type Outcome struct {
	Status   keeper.Status
	Reason   Reason
	Killed   bool // SIGTERM was not enough
	Duration time.Duration
}

const (
	// leftoverGrace is what a background process gets to end after the shell has: the
	// result waits for it.
	leftoverGrace = 500 * time.Millisecond
	// desertedGrace is the grace when nobody is there to see how the command ends.
	desertedGrace = time.Second
	// drainLimit bounds the drain before background processes that keep printing are
	// ended.
	drainLimit = time.Second
	// killLimit is how long to wait for processes that do not even die of SIGKILL.
	killLimit = 2 * time.Second
)

// Run runs command and returns when nothing of it is left. It calls deliver from one
// goroutine at a time, in the order in which the output was read, and not after it has
// returned. The error says why the command could not be started or was lost; a command
// that failed, timed out or was cancelled is an Outcome.
func Run(ctx context.Context, pool *keeper.Pool, command Command, deliver func(Stream, []byte)) (Outcome, error) {
	streams, err := openStreams(command.Terminal)
	if err != nil {
		return Outcome{}, err
	}
	command.Spec.Stdout, command.Spec.Stderr = streams.out.Writer, streams.err.Writer
	begun := time.Now()
	process, err := pool.Start(command.Spec)
	if err != nil {
		streams.close()
		return Outcome{}, err
	}
	streams.read()
	pumped := make(chan struct{})
	go func() {
		defer close(pumped)
		streams.relay.pump(deliver)
	}()
	e := execution{command: command, process: process, streams: streams, timeout: time.NewTimer(command.Timeout)}
	defer e.timeout.Stop()
	e.run(ctx)
	<-pumped
	e.outcome.Status = process.Status()
	e.outcome.Duration = time.Since(begun)
	return e.outcome, e.err()
}

// execution is a command that runs.
type execution struct {
	command Command
	process *keeper.Process
	streams *streams
	timeout *time.Timer
	outcome Outcome
	stuck   bool
}

// run returns when nothing is left of the command and its output has been read.
func (e *execution) run(ctx context.Context) {
	e.outcome.Reason = e.wait(ctx)
	if e.outcome.Reason == Exited {
		e.settle(ctx)
		e.end(min(e.command.Grace, leftoverGrace))
	} else {
		e.end(e.command.Grace)
	}
	e.streams.finish()
	<-e.streams.done
}

// wait waits for the first reason to end.
func (e *execution) wait(ctx context.Context) Reason {
	idle := newIdleTimer(e.command.Idle, e.streams)
	defer idle.stop()
	for {
		select {
		case <-e.process.Exited():
			return Exited
		case <-e.process.Gone(): // lost, or this and Exited are both ready
			return Exited
		case <-ctx.Done():
			return e.exitedOr(Cancelled)
		case <-e.timeout.C:
			return e.exitedOr(TimedOut)
		case <-idle.C():
			if idle.passed() {
				return e.exitedOr(Idled)
			}
		}
	}
}

// exitedOr prefers the command's own end to a reason that came in the same moment.
func (e *execution) exitedOr(r Reason) Reason {
	select {
	case <-e.process.Exited():
		return Exited
	default:
		return r
	}
}

// settle waits for the end of the output of a command whose shell has exited. What holds
// it open may have a last word to say.
func (e *execution) settle(ctx context.Context) {
	e.streams.drain()
	limit := time.NewTimer(drainLimit)
	defer limit.Stop()
	select {
	case <-e.streams.done:
	case <-limit.C:
	case <-ctx.Done(): // too late to cancel the shell; what it left running is ended next
	}
}

// end ends the whole tree: SIGTERM, the grace, SIGKILL.
func (e *execution) end(grace time.Duration) {
	if e.goneWithin(0) {
		return
	}
	e.process.Terminate()
	if e.goneInGrace(grace) {
		return
	}
	e.outcome.Killed = true
	e.process.Kill()
	e.stuck = !e.goneWithin(killLimit)
}

func (e *execution) goneInGrace(grace time.Duration) bool {
	const step = 100 * time.Millisecond
	for waited := time.Duration(0); ; waited += step {
		if waited >= desertedGrace && e.command.Deserted != nil && e.command.Deserted() {
			return false
		}
		left := grace - waited
		if gone := e.goneWithin(min(left, step)); gone || left <= step {
			return gone
		}
	}
}

func (e *execution) goneWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-e.process.Gone():
		return true
	case <-timer.C:
	}
	select {
	case <-e.process.Gone():
		return true
	default:
		return false
	}
}

func (e *execution) err() error {
	if e.stuck {
		return ErrStuck
	}
	select {
	case <-e.process.Exited():
		return nil
	default:
		return e.process.Err()
	}
}
