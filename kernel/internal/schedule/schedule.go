// Package schedule decides when a call may run beside others, for how long, whether it is made again after it failed, and
// when an operation is left alone for a while.
package schedule

import (
	"context"
	"slices"
	"sync"
)

// Claim is what a call needs for itself while it runs.
type Claim struct {
	Provider  string
	Operation string
	// Exclusive: nothing else of this provider runs beside it.
	Exclusive bool
	// Keys are the values of the arguments that calls of this operation are told apart by. Calls with equal keys run
	// one after another; a call without keys shares with all that share.
	Keys []string
	// Serialised: a call that ran into another one. It shares with none of its provider that has a key in common with
	// it, of whatever operation; without keys, with none at all.
	Serialised bool
	// Interactive: it asks a person, and there is only one, so no other interactive call of any provider runs.
	Interactive bool
}

func (c Claim) conflicts(other Claim) bool {
	switch {
	case c.Interactive && other.Interactive:
		return true
	case c.Provider != other.Provider:
		return false
	case c.Exclusive || other.Exclusive:
		return true
	case c.Serialised || other.Serialised:
		return c.about(other)
	default:
		return c.Operation == other.Operation && len(c.Keys) > 0 && slices.Equal(c.Keys, other.Keys)
	}
}

// about reports whether two calls of a provider may be about the same, when one of them has run into another call.
func (c Claim) about(other Claim) bool {
	if c.Serialised && len(c.Keys) == 0 || other.Serialised && len(other.Keys) == 0 {
		return true
	}
	return slices.ContainsFunc(c.Keys, func(key string) bool { return slices.Contains(other.Keys, key) })
}

// Scheduler admits calls in the order they came, except that a call passes those that it has no conflict with. The
// zero value is ready for use.
type Scheduler struct {
	mu    sync.Mutex
	queue []*ticket // running and waiting calls, oldest first
}

type ticket struct {
	claim   Claim
	running bool
	admit   chan struct{}
}

// Acquire waits until a call with this claim may run, or ctx is done. The caller calls release, once or more, when the
// call is over.
func (s *Scheduler) Acquire(ctx context.Context, c Claim) (release func(), err error) {
	t := &ticket{claim: c, admit: make(chan struct{})}
	s.mu.Lock()
	s.queue = append(s.queue, t)
	s.advance()
	s.mu.Unlock()
	release = sync.OnceFunc(func() { s.leave(t) })
	select {
	case <-t.admit:
		return release, nil
	case <-ctx.Done():
		release()
		return nil, context.Cause(ctx)
	}
}

func (s *Scheduler) leave(t *ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = slices.DeleteFunc(s.queue, func(other *ticket) bool { return other == t })
	s.advance()
}

// advance admits every waiting call that conflicts with none before it, running or waiting: so nobody is overtaken by
// a call that would make it wait longer.
func (s *Scheduler) advance() {
	for i, t := range s.queue {
		if !t.running && !slices.ContainsFunc(s.queue[:i], func(before *ticket) bool { return t.claim.conflicts(before.claim) }) {
			t.running = true
			close(t.admit)
		}
	}
}
