package cli

import "sync"

// mostBacklog is how much is kept for a terminal that is lent. What writes more waits until it is back.
const mostBacklog = 4 << 20

// backlog is what was to be written while the terminal was lent to another program.
type backlog struct {
	back  *sync.Cond
	size  int
	later []func()
}

// keep takes what is to be written, unless b is nil.
func (b *backlog) keep(s string, write func(string)) bool {
	if b == nil {
		return false
	}
	for b.size > mostBacklog {
		b.back.Wait()
	}
	b.size += len(s)
	b.later = append(b.later, func() { write(s) })
	return true
}

// Lend leaves the terminal to another program until back is called: nothing is written to it meanwhile, and everything
// afterwards.
func (d *display) Lend() (back func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.status.erase(d)
	held := &backlog{back: sync.NewCond(&d.mu)}
	d.held = held
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.held = nil
		for _, write := range held.later {
			write()
		}
		held.size = 0
		held.back.Broadcast()
		d.status.draw(d)
	}
}
