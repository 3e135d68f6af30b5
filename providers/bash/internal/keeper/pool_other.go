//go:build !linux

package keeper

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentco/agent/providers/bash/internal/sandbox"
)

// Pool starts commands as children of this process, each in a group of its own.
type Pool struct {
	mu      sync.Mutex
	running map[*group]struct{}
	closed  bool
	wg      sync.WaitGroup
}

// Open returns an empty pool.
func Open(*sandbox.Policy) (*Pool, error) { return &Pool{running: map[*group]struct{}{}}, nil }

// Start starts a command. The error is a *StartError if the command is to blame.
func (p *Pool) Start(spec Spec) (*Process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	if err := spec.Sandbox.Available(); err != nil {
		return nil, err
	}
	files := []*os.File{spec.Stdin, spec.Stdout, spec.Stderr}
	if spec.Extra != nil {
		files = append(files, spec.Extra)
	}
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if spec.Session {
		attributes = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	}
	child, err := os.StartProcess(spec.Path, spec.Args, &os.ProcAttr{
		Dir: spec.Dir.Name(), Env: spec.Env, Files: files, Sys: attributes,
	})
	if err != nil {
		var errno syscall.Errno
		errors.As(err, &errno)
		return nil, &StartError{Path: spec.Path, Err: errno}
	}
	g := &group{child: child, process: newProcess()}
	g.process.PID, g.process.signals = child.Pid, g
	p.running[g] = struct{}{}
	p.wg.Go(func() {
		g.watch()
		p.mu.Lock()
		delete(p.running, g)
		p.mu.Unlock()
	})
	return g.process, nil
}

// Close kills whatever still runs.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	for g := range p.running {
		g.kill(g.process)
	}
	p.mu.Unlock()
	p.wg.Wait()
	return nil
}

// group is a command and the process group that it leads.
type group struct {
	child   *os.Process
	process *Process
}

func (g *group) terminate(p *Process) { g.signal(p, unix.SIGTERM) }
func (g *group) kill(p *Process)      { g.signal(p, unix.SIGKILL) }

// abandon knows no more than the group.
func (g *group) abandon(*Process) []int { return nil }

// signal does nothing once the group is empty: its number may be another's by now.
func (g *group) signal(p *Process, s unix.Signal) {
	select {
	case <-p.Gone():
	default:
		_ = unix.Kill(-g.child.Pid, s)
	}
}

// watch returns when the group is empty. Nothing announces that, so it has to ask.
func (g *group) watch() {
	state, err := g.child.Wait()
	if err == nil {
		g.process.setExited(statusOf(unix.WaitStatus(state.Sys().(syscall.WaitStatus))))
	}
	for unix.Kill(-g.child.Pid, 0) == nil {
		time.Sleep(10 * time.Millisecond)
	}
	g.process.setGone(err)
}
