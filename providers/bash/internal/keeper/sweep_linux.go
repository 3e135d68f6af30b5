package keeper

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentco/agent/proto/early"
)

// sweepLimit bounds how long a call waits for processes that cannot be killed.
const sweepLimit = 5 * time.Second

// sweep kills and reaps what a killed keeper left to us, until nothing is left.
func (p *Pool) sweep() {
	deadline := time.Now().Add(sweepLimit)
	for wait := time.Millisecond; time.Now().Before(deadline); wait = min(2*wait, 100*time.Millisecond) {
		if p.sweepOnce() == 0 {
			return
		}
		time.Sleep(wait)
	}
}

// sweepOnce returns how many orphans it found. Even if all of them are gone now, each
// has left its own children to us.
func (p *Pool) sweepOnce() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	orphans := p.orphans()
	for _, orphan := range orphans {
		_ = unix.Kill(orphan, unix.SIGKILL)
		early.Walk(orphan, func(pid int) { _ = unix.Kill(pid, unix.SIGKILL) })
		// By its id alone: a wait for any child would take the keepers' ends away from
		// those who wait for them.
		_, _ = unix.Wait4(orphan, nil, unix.WNOHANG, nil)
	}
	return len(orphans)
}
