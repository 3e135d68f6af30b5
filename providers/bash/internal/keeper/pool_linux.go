package keeper

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// maxIdle is how many keepers wait for work when nothing runs. One more costs a start
// of about 10 ms, one less about 5 MiB.
const maxIdle = 2

// Pool starts commands, each under a keeper of its own. Its methods may be called from
// any goroutine.
type Pool struct {
	mu     sync.Mutex
	idle   []*link
	all    map[int]*link // by the keeper's process id
	closed bool
	wg     sync.WaitGroup
}

// Open starts the first keeper, so that the first command need not wait for it. Close
// ends it.
func Open() (*Pool, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become the reaper of orphaned processes: %w", err)
	}
	p := &Pool{all: map[int]*link{}}
	p.mu.Lock()
	defer p.mu.Unlock()
	first, err := p.hire()
	if err != nil {
		return nil, err
	}
	p.idle = append(p.idle, first)
	return p, nil
}

// Start starts a command. The error is a *StartError if the command is to blame.
func (p *Pool) Start(spec Spec) (*Process, error) {
	for {
		l, fresh, err := p.take()
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
	p.idle = nil
	p.mu.Unlock()
	p.wg.Wait()
	return nil
}

// take returns an idle keeper, or a fresh one.
func (p *Pool) take() (l *link, fresh bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, ErrClosed
	}
	if n := len(p.idle); n > 0 {
		l, p.idle = p.idle[n-1], p.idle[:n-1]
		return l, false, nil
	}
	l, err = p.hire()
	return l, true, err
}

// put takes back a keeper that keeps nothing any more.
func (p *Pool) put(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= maxIdle {
		l.dismiss()
		return
	}
	p.idle = append(p.idle, l)
}

// hire starts a keeper. The lock is held from the fork until it is known in p.all, so
// that forget cannot take it for an orphan.
func (p *Pool) hire() (*link, error) {
	l, err := newLink(p)
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
	for i, other := range p.idle {
		if other == l {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			break
		}
	}
	p.mu.Unlock()
	if !orderly {
		p.sweep()
	}
}

// orphans returns our children that are no keepers.
func (p *Pool) orphans() []int {
	var found []int
	for _, pid := range childrenNow()(os.Getpid()) {
		if p.all[pid] == nil {
			found = append(found, pid)
		}
	}
	return found
}
