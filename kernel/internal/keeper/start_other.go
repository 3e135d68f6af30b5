//go:build !linux

package keeper

import (
	"os/exec"
	"sync"
)

// Process is a provider and what is in its process group.
type Process struct {
	cmd *exec.Cmd

	mu    sync.Mutex
	ended bool // it has been reaped: its id must not be signalled any more
}

// Start starts a provider. Exited must be called, and then Wait.
func Start(s Spec) (*Process, error) {
	cmd := &exec.Cmd{Path: s.Path, Args: s.Args, Env: s.Env, Dir: s.Dir, Stdout: s.Stdout, Stderr: s.Stderr, SysProcAttr: ownGroup()}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Process{cmd: cmd}, nil
}

// Pid is the process id of the provider.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Kill ends the provider and what is in its group, at once. It does not wait.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		killGroup(p.cmd)
	}
}

// Exited returns when the provider has ended, and says how. It must be called once.
func (p *Process) Exited() Status {
	_ = p.cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	killGroup(p.cmd) // what is left of the group; its id is not given away while there is something
	p.ended = true
	return statusOf(p.cmd.ProcessState)
}

// Wait has nothing to wait for: what was in the group was ended with the provider.
func (p *Process) Wait() {}
