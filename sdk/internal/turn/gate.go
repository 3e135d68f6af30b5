// Package turn decides which calls of one provider run beside each other. A kernel does the same across providers; this
// keeps a provider's promises also towards a kernel that does not.
package turn

import (
	"container/list"
	"context"
	"sync"
)

// Claim is what a call needs of the others. The zero value runs beside anything but an exclusive call.
type Claim struct {
	// Alone wants nothing to run beside the call.
	Alone bool
	// Key, unless empty, wants no other call with the same key to run beside the call.
	Key string
}

// Gate lets calls through in the order in which they came, save that one which is in nobody's way need not wait for
// one that is. No call waits for ever on others that keep coming. The zero value is open.
type Gate struct {
	mu      sync.Mutex
	running int
	alone   bool                // what runs is exclusive
	held    map[string]struct{} // keys of what runs
	waiting list.List           // of *waiter, oldest first
	queued  int                 // how many of them are exclusive
}

type waiter struct {
	claim   Claim
	granted chan struct{}
}

// Enter waits for the call's turn, or until ctx ends and gives its error. After nil, the caller must Leave.
func (g *Gate) Enter(ctx context.Context, c Claim) error {
	g.mu.Lock()
	// Whoever waits for a key waits only while it is held or behind an exclusive call, so a key that is free here has
	// nobody waiting for it.
	if g.fits(c) && g.queued == 0 && (!c.Alone || g.waiting.Len() == 0) {
		g.take(c)
		g.mu.Unlock()
		return nil
	}
	w := &waiter{claim: c, granted: make(chan struct{})}
	place := g.waiting.PushBack(w)
	if c.Alone {
		g.queued++
	}
	g.mu.Unlock()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
	}
	g.giveUp(place)
	return ctx.Err()
}

// Leave ends a call that was let in with the same claim.
func (g *Gate) Leave(c Claim) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.give(c)
	g.admit()
}

// giveUp takes a waiter out of the queue, or ends its turn if that came at the same moment.
func (g *Gate) giveUp(place *list.Element) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w := place.Value.(*waiter)
	select {
	case <-w.granted:
		g.give(w.claim)
	default:
		g.remove(place)
	}
	g.admit()
}

// admit lets in whoever can go now.
func (g *Gate) admit() {
	for place := g.waiting.Front(); place != nil; {
		next := place.Next()
		w := place.Value.(*waiter)
		switch {
		case g.fits(w.claim):
			g.remove(place)
			g.take(w.claim)
			close(w.granted)
		case w.claim.Alone:
			return // nobody overtakes an exclusive call
		}
		place = next
	}
}

func (g *Gate) remove(place *list.Element) {
	if g.waiting.Remove(place).(*waiter).claim.Alone {
		g.queued--
	}
}

// fits reports whether c may run beside what runs.
func (g *Gate) fits(c Claim) bool {
	if g.alone || c.Alone && g.running > 0 {
		return false
	}
	_, held := g.held[c.Key]
	return c.Key == "" || !held
}

func (g *Gate) take(c Claim) {
	g.running++
	g.alone = c.Alone
	if c.Key == "" {
		return
	}
	if g.held == nil {
		g.held = map[string]struct{}{}
	}
	g.held[c.Key] = struct{}{}
}

func (g *Gate) give(c Claim) {
	g.running--
	g.alone = false
	delete(g.held, c.Key)
}
