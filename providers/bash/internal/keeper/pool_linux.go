package keeper

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/agentco/agent/proto/early"
	"github.com/agentco/agent/providers/bash/internal/sandbox"
)

// maxIdle is how many keepers of a kind wait for work when nothing runs. Each holds about
// 3 MiB; a command that finds none waits about 10 ms for one to start.
const maxIdle = 2

// Pool starts commands, each under a keeper of its own. Its methods may be called from
// any goroutine.
type Pool struct {
	mu     sync.Mutex
	idle   map[*sandbox.Policy][]*link
	all    map[int]*link // by the keeper's process id
	closed bool
	wg     sync.WaitGroup
}

// Open starts the first keeper, one for commands under the policy first, so that the first
// command need not wait for it. Close ends it.
func Open(first *sandbox.Policy) (*Pool, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become the reaper of orphaned processes: %w", err)
	}
	p := &Pool{idle: map[*sandbox.Policy][]*link{}, all: map[int]*link{}}
	p.mu.Lock()
	defer p.mu.Unlock()
	l, err := p.hire(first)
	if err != nil {
		return nil, err
	}
	p.idle[first] = append(p.idle[first], l)
	return p, nil
}

// Start starts a command. The error is a *StartError if the command is to blame.
func (p *Pool) Start(spec Spec) (*Process, error) {
	for {
		l, fresh, err := p.take(spec.Sandbox)
		if err != nil {
			return nil, err
		}
		process, err := l.start(spec)
		if errors.Is(err, ErrLost) && !fresh {
			continue // it was killed while it was idle, and nobody had noticed yet
		}
		return process, err
	}
}

// Close kills whatever still runs and returns when every keeper is gone.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	for _, l := range p.all {
		l.dismiss()
	}
	clear(p.idle)
	p.mu.Unlock()
	p.wg.Wait()
	return nil
}

// take returns an idle keeper of the kind, or a fresh one.
func (p *Pool) take(kind *sandbox.Policy) (l *link, fresh bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, ErrClosed
	}
	if idle := p.idle[kind]; len(idle) > 0 {
		last := len(idle) - 1
		l, p.idle[kind] = idle[last], idle[:last]
		return l, false, nil
	}
	l, err = p.hire(kind)
	return l, true, err
}

// put takes back a keeper that keeps nothing any more.
func (p *Pool) put(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle[l.kind]) >= maxIdle {
		l.dismiss()
		return
	}
	p.idle[l.kind] = append(p.idle[l.kind], l)
}

// hire starts a keeper. The lock is held from the fork until it is known in p.all, so
// that forget cannot take it for an orphan.
func (p *Pool) hire(kind *sandbox.Policy) (*link, error) {
	l, err := newLink(p, kind)
	if err != nil {
		return nil, err
	}
	p.all[l.pid()] = l
	p.wg.Go(l.listen)
	return l, nil
}

// forget drops a keeper that has ended. If it did not end of its own will, what it
// kept are now our own children, and no keeper's.
func (p *Pool) forget(l *link, orderly bool) {
	p.mu.Lock()
	if p.all[l.pid()] == l { // it was reaped, so its number may be another's by now
		delete(p.all, l.pid())
	}
	p.idle[l.kind] = slices.DeleteFunc(p.idle[l.kind], func(other *link) bool { return other == l })
	p.mu.Unlock()
	if !orderly {
		p.sweep()
	}
}

// orphans returns our children that are no keepers.
func (p *Pool) orphans() []int {
	var found []int
	for _, pid := range early.ChildrenNow()(os.Getpid()) {
		if p.all[pid] == nil {
			found = append(found, pid)
		}
	}
	return found
}
