// Package background keeps the processes that go on when the call that started them is
// over.
//
//	bash ──► Set.Start ──► Process ──► runner ──► ...
//	            │             └──► transcript ◄── process_output
//	            └── Keep: from here on the process can be found by its id
package background

import (
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/agentco/agent/providers/bash/internal/runner"
	"github.com/agentco/agent/providers/bash/internal/transcript"
)

const (
	// maxEnded is how many processes of a session can still be asked about after their end.
	maxEnded = 16
	// maxEndedInAll is how many of all sessions can, of which nobody says that they are over.
	maxEndedInAll = 4 * maxEnded
)

var (
	// ErrFull is returned by Start when as many processes run as may.
	ErrFull = errors.New("too many processes run in the background")
	// ErrClosed is returned by Start after Close.
	ErrClosed = errors.New("shutting down")
)

// Set is the background processes of all sessions. Sessions do not see each other's. The
// zero value is empty and ready; it is safe for concurrent use.
type Set struct {
	mu      sync.Mutex
	running map[*Process]struct{} // kept ones and others
	kept    []*Process            // the oldest first
	closed  bool
	wg      sync.WaitGroup
}

// Start starts a process by way of start, unless limit of the session's are running. The
// transcript must be the one that start delivers to.
func (s *Set) Start(about About, limit int, output *transcript.Transcript, start func() (*runner.Execution, error)) (*Process, error) {
	p := newProcess(about, output)
	if err := s.admit(p, limit); err != nil {
		return nil, err
	}
	execution, err := start()
	if err != nil {
		s.leave(p)
		s.wg.Done()
		return nil, err
	}
	p.execution = execution
	go func() {
		defer s.wg.Done()
		p.wait()
		s.leave(p)
		close(p.done)
	}()
	return p, nil
}

func (s *Set) admit(p *Process, limit int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	beside := 0
	for other := range s.running {
		if other.Session == p.Session {
			beside++
		}
	}
	if beside >= limit {
		return ErrFull
	}
	if s.running == nil {
		s.running = map[*Process]struct{}{}
	}
	p.ID = s.newID()
	s.running[p] = struct{}{}
	s.wg.Add(1)
	return nil
}

// newID is random, so that an id of a provider that has crashed is not another process's.
func (s *Set) newID() string { return "bg-" + strings.ToLower(rand.Text()[:8]) }

func (s *Set) leave(p *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, p)
}

// Keep lets p be found by its id. Of processes that have ended the oldest is forgotten.
func (s *Set) Keep(p *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, p)
	s.forget(maxEnded, func(other *Process) bool { return other.Session == p.Session })
	s.forget(maxEndedInAll, func(*Process) bool { return true })
}

// forget leaves the newest most of those that have ended.
func (s *Set) forget(most int, among func(*Process) bool) {
	var ended []*Process
	for _, p := range s.kept {
		if _, runs := s.running[p]; !runs && among(p) {
			ended = append(ended, p)
		}
	}
	for _, oldest := range ended[:max(0, len(ended)-most)] {
		s.kept = slices.DeleteFunc(s.kept, func(p *Process) bool { return p == oldest })
		oldest.output.Close()
	}
}

// Find returns the process of a session called id, or nil.
func (s *Set) Find(session, id string) *Process {
	for _, p := range s.List(session) {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// List returns the processes of a session, the oldest first.
func (s *Set) List(session string) []*Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*Process
	for _, p := range s.kept {
		if p.Session == session {
			found = append(found, p)
		}
	}
	return found
}

// Close stops every process as [Process.Stop] does, and returns when they have ended.
func (s *Set) Close() {
	s.mu.Lock()
	s.closed = true
	for p := range s.running {
		p.Stop()
	}
	s.mu.Unlock()
	s.wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.kept {
		p.output.Close()
	}
	s.kept = nil
}
