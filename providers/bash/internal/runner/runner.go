// Package runner runs one command from its start until nothing of it is left, and
// delivers what it prints on the way.
//
//	command ──► terminal (stdout) ──► reader ─┐
//	        └─► terminal (stderr) ──► reader ─┴─► relay ──► pump ──► deliver
//
// A command is over when its shell has exited, both streams have ended or been silent
// for 200 ms, and whatever it left running has been ended.
//
// One that is typed at has a single terminal instead, so its output is all stdout.
package runner

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentco/agent/providers/bash/internal/keeper"
	"github.com/agentco/agent/providers/bash/internal/terminal"
)

// Command says what to run and when to stop it.
type Command struct {
	Spec     keeper.Spec    // without Stdout, Stderr and Session, and without Stdin if typed at
	Terminal *terminal.Size // nil for pipes
	Typed    bool           // whether the terminal is also the input, which needs one

	Timeout time.Duration // 0 for no limit
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

// Run is Start and Wait.
func Run(ctx context.Context, pool *keeper.Pool, command Command, deliver func(Stream, []byte)) (Outcome, error) {
	e, err := Start(pool, command, deliver)
	if err != nil {
		return Outcome{}, err
	}
	return e.Wait(ctx)
}

// Execution is a command that runs.
type Execution struct {
	command Command
	process *keeper.Process
	streams *streams
	begun   time.Time
	pumped  chan struct{}
	outcome Outcome
	stuck   *StuckError

	typing sync.Mutex
	line   int // bytes of a line that was begun
}

// Start starts command, which Wait must be called for. It calls deliver from one goroutine
// at a time, in the order in which the output was read, and not after Wait has returned.
func Start(pool *keeper.Pool, command Command, deliver func(Stream, []byte)) (*Execution, error) {
	streams, err := command.openStreams()
	if err != nil {
		return nil, err
	}
	command.Spec.Stdout, command.Spec.Stderr = streams.out.Writer, streams.err.Writer
	if command.Typed {
		command.Spec.Session = true
		if command.Spec.Stdin == nil {
			command.Spec.Stdin = streams.out.Writer
		}
	}
	begun := time.Now()
	process, err := pool.Start(command.Spec)
	if err != nil {
		streams.close()
		return nil, err
	}
	streams.read()
	e := &Execution{command: command, process: process, streams: streams, begun: begun, pumped: make(chan struct{})}
	go func() {
		defer close(e.pumped)
		streams.relay.pump(deliver)
	}()
	return e, nil
}

// Wait returns when nothing of the command is left, which it sees to when ctx is done or a
// limit has passed. A command that failed, timed out or was cancelled is an Outcome; the
// error says that the command was lost or cannot be ended.
func (e *Execution) Wait(ctx context.Context) (Outcome, error) {
	e.run(ctx)
	<-e.pumped
	e.outcome.Status = e.process.Status()
	e.outcome.Duration = time.Since(e.begun)
	return e.outcome, e.err()
}

// PID is the process id of the shell.
func (e *Execution) PID() int { return e.process.PID }

// Signal sends SIGTERM and SIGKILL to every process of the command, any other signal to the
// process group of the shell. It does not wait.
func (e *Execution) Signal(s unix.Signal) {
	switch s {
	case unix.SIGTERM:
		e.process.Terminate()
	case unix.SIGKILL:
		e.process.Kill()
	default:
		e.process.Signal(s)
	}
}

// run returns when nothing is left of the command and its output has been read.
func (e *Execution) run(ctx context.Context) {
	e.outcome.Reason = e.wait(ctx)
	e.streams.release()
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
func (e *Execution) wait(ctx context.Context) Reason {
	idle := newIdleTimer(e.command.Idle, e.streams)
	defer idle.stop()
	var timeout <-chan time.Time
	if limit := e.command.Timeout; limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		timeout = timer.C
	}
	for {
		select {
		case <-e.process.Exited():
			return Exited
		case <-e.process.Gone(): // lost, or this and Exited are both ready
			return Exited
		case <-ctx.Done():
			return e.exitedOr(Cancelled)
		case <-timeout:
			return e.exitedOr(TimedOut)
		case <-idle.C():
			if idle.passed() {
				return e.exitedOr(Idled)
			}
		}
	}
}

// exitedOr prefers the command's own end to a reason that came in the same moment.
func (e *Execution) exitedOr(r Reason) Reason {
	select {
	case <-e.process.Exited():
		return Exited
	default:
		return r
	}
}

// settle waits for the end of the output of a command whose shell has exited. What holds
// it open may have a last word to say.
func (e *Execution) settle(ctx context.Context) {
	select {
	case <-e.streams.done: // as nearly always
		return
	default:
		e.streams.drain()
	}
	limit := time.NewTimer(drainLimit)
	defer limit.Stop()
	select {
	case <-e.streams.done:
	case <-limit.C:
	case <-ctx.Done(): // too late to cancel the shell; what it left running is ended next
	}
}

// end ends the whole tree: SIGTERM, the grace, SIGKILL.
func (e *Execution) end(grace time.Duration) {
	if e.gone() {
		return
	}
	e.process.Terminate()
	if e.goneInGrace(grace) {
		return
	}
	e.outcome.Killed = true
	e.process.Kill()
	if e.goneWithin(killLimit) {
		return
	}
	if left := e.process.Abandon(); len(left) > 0 || !e.goneWithin(killLimit) {
		e.stuck = &StuckError{Left: left, Exited: e.exitedOr(Cancelled) == Exited}
	}
}

func (e *Execution) goneInGrace(grace time.Duration) bool {
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

func (e *Execution) goneWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-e.process.Gone():
		return true
	case <-timer.C:
		return e.gone()
	}
}

func (e *Execution) gone() bool {
	select {
	case <-e.process.Gone():
		return true
	default:
		return false
	}
}

func (e *Execution) err() error {
	if e.stuck != nil {
		return e.stuck
	}
	select {
	case <-e.process.Exited():
		return nil
	default:
		return e.process.Err()
	}
}
