package sdk

import (
	"os"
	"time"
)

// parentInterval is how often the parent is looked for where the system does not tell of its death.
const parentInterval = 250 * time.Millisecond

// pollParent gives a channel that is closed when the parent's number has changed.
func pollParent(parent int) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for os.Getppid() == parent {
			time.Sleep(parentInterval)
		}
	}()
	return gone
}
