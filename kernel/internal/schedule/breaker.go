package schedule

import (
	"fmt"
	"sync"
	"time"
)

// What trips a breaker, and for how long.
const (
	tripAfter   = 3
	coolDown    = time.Minute
	maxCoolDown = 16 * time.Minute
)

// Breaker keeps a conversation from asking for the same again and again: after three denials or crashes in a row of one
// operation its circuit is open. Nobody is asked about the operation then; what is allowed without a question still
// runs, unless a crash is among the three. After a minute one more call gets through, and if that is denied or crashes
// too, the circuit is open for twice as long. A call that runs, however it ends, closes it. The zero value is ready for
// use, from many goroutines.
type Breaker struct {
	mu       sync.Mutex
	circuits map[string]*circuit
}

// circuit is the row of strikes of one operation.
type circuit struct {
	denials, crashes int   // in a row
	last             int64 // crash that was counted
	until            time.Time
	cool             time.Duration
}

// Open says why a call of an operation is not even asked about; empty when it may go on. free is a call that nobody has
// to be asked about.
func (b *Breaker) Open(operation string, free bool) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.circuits[operation]
	if c == nil || !time.Now().Before(c.until) || free && c.crashes == 0 {
		return ""
	}
	wait := time.Until(c.until).Round(time.Second)
	if c.crashes == 0 {
		return fmt.Sprintf("its last %d calls in this session were denied, so that nobody is asked about it for %s; "+
			"what a policy allows still runs, and a new session begins anew", c.denials, wait)
	}
	return fmt.Sprintf("its last %d calls in this session were denied or ended with a crash of its provider (%d of them), "+
		"so that it is left alone for %s; a new session begins anew", c.denials+c.crashes, c.crashes, wait)
}

// Denied notes a call that was not let run.
func (b *Breaker) Denied(operation string) {
	b.strike(operation, func(c *circuit) bool { c.denials++; return true })
}

// Crashed notes a call that was lost with its provider. crash numbers the crashes of the provider: one is one, however many
// calls were lost with it, and 0 is none.
func (b *Breaker) Crashed(operation string, crash int64) {
	b.strike(operation, func(c *circuit) bool {
		if crash <= c.last {
			return false
		}
		c.crashes++
		c.last = crash
		return true
	})
}

// Ran notes a call that its provider answered.
func (b *Breaker) Ran(operation string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.circuits, operation)
}

// strike counts what is one more. What is none must not open a circuit again that has had its time.
func (b *Breaker) strike(operation string, count func(*circuit) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.circuits[operation]
	if c == nil {
		c = &circuit{cool: coolDown}
		if b.circuits == nil {
			b.circuits = map[string]*circuit{}
		}
		b.circuits[operation] = c
	}
	now := time.Now()
	if now.Before(c.until) { // what the open circuit itself answers is no news
		return
	}
	if count(c) && c.denials+c.crashes >= tripAfter {
		c.until = now.Add(c.cool)
		c.cool = min(2*c.cool, maxCoolDown)
	}
}
