package host

import (
	"fmt"
	"strings"
	"time"
)

const (
	// crashLimit ends within crashWindow stop the starts until the first of them is that long ago.
	crashLimit  = 3
	crashWindow = time.Minute
)

// crashLoop counts the deaths of a provider, and its starts that failed, so that one that keeps dying does not cost a
// start at every call.
type crashLoop struct {
	crashes []crash // oldest first
}

type crash struct {
	at     time.Time
	ending string
}

func (c *crashLoop) add(at time.Time, ending string) {
	c.crashes = append(c.crashes, crash{at: at, ending: ending})
}

// broken is why the provider must not be started now; nil when it may.
func (c *crashLoop) broken(name string, now time.Time) error {
	for len(c.crashes) > 0 && now.Sub(c.crashes[0].at) > crashWindow {
		c.crashes = c.crashes[1:]
	}
	if len(c.crashes) < crashLimit {
		return nil
	}
	last, _, _ := strings.Cut(c.crashes[len(c.crashes)-1].ending, "\n")
	return fmt.Errorf("provider %q died or did not start %d times within %s (last: %s) and is left alone for another %s: its log says what it died of",
		name, len(c.crashes), crashWindow, last, (crashWindow - now.Sub(c.crashes[0].at)).Round(time.Second))
}
