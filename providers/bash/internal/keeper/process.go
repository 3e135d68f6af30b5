package keeper

import (
	"sync"

	"golang.org/x/sys/unix"
)

// Process is one command and everything it started.
type Process struct {
	PID int

	signals interface {
		terminate(p *Process)
		kill(p *Process)
		signal(p *Process, s unix.Signal)
		abandon(p *Process) []int
	}

	exited chan struct{}
	gone   chan struct{}

	mu     sync.Mutex
	status Status
	err    error
}

func newProcess() *Process {
	return &Process{exited: make(chan struct{}), gone: make(chan struct{})}
}

// Exited is closed when the shell itself has ended; see Status.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Gone is closed when nothing of the command is left; see Err. It may stay open for
// ever if a process cannot be killed, such as one that waits for a dead disk.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Status is how the shell ended, once Exited is closed.
func (p *Process) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status
}

// Err is ErrLost when Gone was closed without the shell's end having been seen.
func (p *Process) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Terminate sends SIGTERM to every process of the command. It does not wait.
func (p *Process) Terminate() { p.signals.terminate(p) }

// Kill sends SIGKILL to every process of the command, again and again until none is
// left. It does not wait.
func (p *Process) Kill() { p.signals.kill(p) }

// Signal sends s to the process group of the shell, as a terminal sends SIGINT. It does not
// wait, and does nothing once the shell has exited.
func (p *Process) Signal(s unix.Signal) { p.signals.signal(p, s) }

// Abandon gives up waiting for what Kill cannot end, and returns the process ids of it, as far as they are known. Whoever
// kills it goes on for as long as it lives, but Gone may stay open, and Close of the pool waits for it no more.
func (p *Process) Abandon() (left []int) { return p.signals.abandon(p) }

func (p *Process) setExited(s Status) {
	p.mu.Lock()
	p.status = s
	p.mu.Unlock()
	close(p.exited)
}

func (p *Process) setGone(err error) {
	p.mu.Lock()
	p.err = err
	p.mu.Unlock()
	close(p.gone)
}
