package cli

import (
	"slices"
	"sync"

	"github.com/agentco/agent/kernel/internal/engine"
)

// endings tells of the ends of calls: of one that ran at once, of one that did not when those above it have been told of,
// so that what was skipped or denied stands where it does in the list. Nobody waits for it. Its methods are called from
// many goroutines.
type endings struct {
	tell func(i int, o engine.Outcome)

	mu   sync.Mutex // guards all below, and is held while one is told
	told []bool
	held map[int]engine.Outcome
}

func newEndings(n int, tell func(i int, o engine.Outcome)) *endings {
	return &endings{tell: tell, told: make([]bool, n), held: map[int]engine.Outcome{}}
}

func (e *endings) ended(i int, o engine.Outcome) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if o.Took > 0 {
		e.told[i] = true
		e.tell(i, o)
	} else {
		e.held[i] = o
	}
	for {
		first := slices.Index(e.told, false)
		o, ended := e.held[first]
		if !ended {
			return
		}
		delete(e.held, first)
		e.told[first] = true
		e.tell(first, o)
	}
}
