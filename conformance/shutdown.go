package conformance

import (
	"fmt"
	"time"

	"github.com/agentco/agent/conformance/internal/processes"
)

// ending is the shutdown of a process.
type ending struct {
	killed   bool // it did not end by itself
	took     time.Duration
	left     []string // processes that are still there
	leftover []string // files that are still there
}

// afterEnd is how long what a provider leaves behind has to go.
const afterEnd = 3 * time.Second

// moment is what a process gets to end that seems to be about to, on a machine that may be busy. It is spent whole only
// where one goes on.
const moment = 4 * time.Second

// shutDown ends the process as a kernel does, and looks at what is left.
func (r *running) shutDown() (e ending) {
	began := time.Now()
	r.end()
	e.took, e.killed = time.Since(began), r.Process.Killed()
	e.left = awaitGone(r.PID(), r.place.dir, afterEnd)
	e.leftover = r.place.leftovers(r.OwnsSocket)
	return e
}

// hurried is a shutdown while a call runs.
type hurried struct {
	err  error
	busy bool // a call was running
	ending
}

func (s *subject) shutDownBusy() hurried {
	r, err := s.configured(nil)
	if err != nil {
		return hurried{err: err}
	}
	defer r.end()
	if !r.occupy() {
		return hurried{}
	}
	out := hurried{busy: true, ending: r.shutDown()}
	killAll(processes.Related(r.PID(), r.place.dir))
	return out
}

// awaitGone waits until every process of a provider is gone, and names those that are not.
func awaitGone(root int, dir string, patience time.Duration) (left []string) {
	deadline := time.Now().Add(patience)
	for {
		pids := processes.Related(root, dir)
		if len(pids) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			for _, pid := range pids {
				left = append(left, fmt.Sprintf("%d (%s)", pid, processes.Name(pid)))
			}
			return left
		}
		// The system tells nobody of the end of somebody else's process.
		time.Sleep(50 * time.Millisecond)
	}
}
