package background

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentco/agent/providers/bash/internal/runner"
	"github.com/agentco/agent/providers/bash/internal/transcript"
)

// About says what a process is.
type About struct {
	Session     string // who may ask about it
	Command     string
	Description string
	Dir         string
}

// State is how a process fares.
type State string

// The states.
const (
	Running  State = "running"
	Exited   State = "exited"    // by itself
	Stopped  State = "stopped"   // by a signal that was asked for
	TimedOut State = "timed_out" // its own limit had passed
	Killed   State = "killed"    // by a signal that nobody here has sent
	Lost     State = "lost"      // killed together with the process that kept it
)

// Process is one process that can outlive its call.
type Process struct {
	About
	ID      string
	Started time.Time

	output    *transcript.Transcript
	execution *runner.Execution
	ctx       context.Context
	cancel    context.CancelFunc
	done      chan struct{}

	mu      sync.Mutex
	asked   []unix.Signal
	outcome runner.Outcome
	err     error
}

func newProcess(about About, output *transcript.Transcript) *Process {
	p := &Process{About: about, Started: time.Now(), output: output, done: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

func (p *Process) wait() {
	outcome, err := p.execution.Wait(p.ctx)
	p.cancel()
	p.mu.Lock()
	p.outcome, p.err = outcome, err
	p.mu.Unlock()
	p.output.End()
}

// PID is the process id of the shell.
func (p *Process) PID() int { return p.execution.PID() }

// Output is what it has printed.
func (p *Process) Output() *transcript.Transcript { return p.output }

// Done is closed when nothing of the process is left.
func (p *Process) Done() <-chan struct{} { return p.done }

// Outcome is how it ended, once Done is closed. See [runner.Execution.Wait].
func (p *Process) Outcome() (runner.Outcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outcome, p.err
}

// Stop makes it end: SIGTERM, the grace, SIGKILL. It does not wait.
func (p *Process) Stop() { p.cancel() }

// Type types at its terminal. See [runner.Execution.Type].
func (p *Process) Type(data []byte) (int, error) {
	if p.over() {
		return 0, runner.ErrOver
	}
	return p.execution.Type(data)
}

// Signal sends a signal. See [runner.Execution.Signal].
func (p *Process) Signal(s unix.Signal) {
	p.mu.Lock()
	p.asked = append(p.asked, s)
	p.mu.Unlock()
	p.execution.Signal(s)
}

// State is how the process fares.
func (p *Process) State() State {
	if !p.over() {
		return Running
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.err != nil:
		return Lost
	case p.outcome.Reason == runner.Cancelled:
		return Stopped
	case p.outcome.Reason != runner.Exited:
		return TimedOut
	case p.wasAsked():
		return Stopped
	case p.outcome.Status.Signal != "":
		return Killed
	default:
		return Exited
	}
}

func (p *Process) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// wasAsked reports whether the end is what a signal was sent for. SIGTERM and SIGKILL ask
// for nothing else, however the command then chose to exit; of the others it shows.
func (p *Process) wasAsked() bool {
	return slices.ContainsFunc(p.asked, func(s unix.Signal) bool {
		return s == unix.SIGTERM || s == unix.SIGKILL || p.outcome.Status.Code == 128+int(s)
	})
}

// Duration is how long it has run.
func (p *Process) Duration() time.Duration {
	if p.over() {
		outcome, _ := p.Outcome()
		return outcome.Duration
	}
	return time.Since(p.Started)
}
