package conformance

import (
	"strings"
	"time"

	"github.com/agentco/agent/conformance/internal/processes"
)

func shutdownClean(l session) finding {
	if l.end.killed {
		return broken("it had to be killed after %s", l.end.took.Round(100*time.Millisecond))
	}
	return seen("it ended after %s", l.end.took.Round(time.Millisecond))
}

func shutdownProcesses(l session) finding {
	if len(l.end.left) > 0 {
		return broken("there is %s", strings.Join(l.end.left, ", "))
	}
	return seen("none")
}

func shutdownBusy(s *subject) finding {
	h := s.hurried()
	switch {
	case h.err != nil:
		return unusable(h.err)
	case !h.busy:
		return skipped("the scenario has no call to be cancelled that is long enough")
	case len(s.session().end.left) > 0:
		return skipped("a process is left after every shutdown")
	case len(h.left) > 0:
		return broken("there is %s", strings.Join(h.left, ", "))
	default:
		return seen("none, %s after a shutdown with a call running", h.took.Round(10*time.Millisecond))
	}
}

func shutdownTidy(l session) finding {
	if l.end.killed {
		return skipped("it did not end by itself")
	}
	if len(l.end.leftover) > 0 {
		return broken("in TMPDIR there is %s", strings.Join(l.end.leftover[:min(3, len(l.end.leftover))], ", "))
	}
	return seen("TMPDIR is empty")
}

func parentDeath(s *subject) finding {
	if !processes.Supported {
		return skipped("processes cannot be told apart on this system")
	}
	o := s.orphan()
	switch {
	case o.err != nil:
		return unusable(o.err)
	case len(o.left) > 0:
		return broken("there is %s", strings.Join(o.left, ", "))
	case o.busy:
		return seen("gone after %s, with a call running", o.took.Round(10*time.Millisecond))
	default:
		return seen("gone after %s", o.took.Round(10*time.Millisecond))
	}
}
