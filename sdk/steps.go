package sdk

import (
	"fmt"
	"sync"
	"time"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// stepInterval is the least time between two progress events that [Call.Progress] leads to.
const stepInterval = 100 * time.Millisecond

// steps keeps the newest step of a call until somebody sends it, so that whoever works never waits for whoever reads.
type steps struct {
	mu          sync.Mutex
	done, total int
	unsent      bool
	paced       bool          // a goroutine sends
	over        chan struct{} // closed at the end of the call; nil until paced
	ended       bool
}

// set takes a step. The first one reports that somebody must be found who sends it and those to come.
func (s *steps) set(done, total int) (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.done, s.total, s.unsent = done, total, true
	if s.paced {
		return false
	}
	s.paced, s.over = true, make(chan struct{})
	return true
}

// take gives the newest step as an event, or nil when it has been given.
func (s *steps) take() *toolv1.ToolEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.unsent {
		return nil
	}
	s.unsent = false
	if s.total <= 0 {
		return progressEvent(fmt.Sprint(s.done), nil)
	}
	fraction := min(1, max(0, float64(s.done)/float64(s.total)))
	return progressEvent(fmt.Sprintf("%d of %d", s.done, s.total), &fraction)
}

// end drops what comes later.
func (s *steps) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paced && !s.ended {
		close(s.over)
	}
	s.ended = true
}

// pace sends the newest step now and then, until the call is over.
func (e *events) pace() {
	tick := time.NewTicker(stepInterval)
	defer tick.Stop()
	for {
		e.flushSteps()
		select {
		case <-tick.C:
		case <-e.steps.over:
			return
		}
	}
}

func (e *events) flushSteps() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.flushStepsLocked()
	}
}

// flushStepsLocked sends the newest step before whatever must not overtake it.
func (e *events) flushStepsLocked() {
	if step := e.steps.take(); step != nil {
		e.emit(step)
	}
}

func progressEvent(message string, fraction *float64) *toolv1.ToolEvent {
	return &toolv1.ToolEvent{Event: &toolv1.ToolEvent_Progress_{Progress: &toolv1.ToolEvent_Progress{
		Message: message, FractionComplete: fraction,
	}}}
}
