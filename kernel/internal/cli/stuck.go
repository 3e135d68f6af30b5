package cli

import (
	"os"
	"time"
)

const (
	// longestWrite is how long a process that is to end waits for one and the same write. A pipe that nobody reads and nobody
	// closes would hold it up for ever, and what it has to say with it.
	longestWrite = 3 * time.Second
	// utterance is how long a signal waits for what is said of it. Whatever that has to wait for, the next one has to be heard.
	utterance = time.Second
)

// say writes, if that can be done soon: else when it can be.
func (a *app) say(write func()) {
	said := make(chan struct{})
	go func() {
		write()
		close(said)
	}()
	select {
	case <-said:
	case <-time.After(utterance):
	}
}

// leaveWhenStuck ends the process in the middle of a write that does not end. What its providers do, and what the log has
// of it, are then as after a kill.
func (a *app) leaveWhenStuck() {
	a.display.stuck(longestWrite)
	os.Exit(exitCancelled)
}

// stuck returns when a write has lasted for some time, twice as long at most.
func (d *display) stuck(some time.Duration) {
	for {
		begun := d.writes.Load()
		time.Sleep(some)
		if begun%2 == 1 && d.writes.Load() == begun {
			return
		}
	}
}
