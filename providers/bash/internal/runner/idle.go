package runner

import "time"

// idleTimer fires when a command may have been silent for too long.
type idleTimer struct {
	limit   time.Duration
	streams *streams
	timer   *time.Timer
}

// newIdleTimer returns a timer that never fires if limit is 0.
func newIdleTimer(limit time.Duration, s *streams) *idleTimer {
	t := &idleTimer{limit: limit, streams: s}
	if limit > 0 {
		t.timer = time.NewTimer(limit)
	}
	return t
}

// C is nil, which blocks for ever, without a limit.
func (t *idleTimer) C() <-chan time.Time {
	if t.timer == nil {
		return nil
	}
	return t.timer.C
}

// passed reports whether the limit has really passed, and rearms the timer if not.
func (t *idleTimer) passed() bool {
	quiet := t.streams.quietFor()
	if quiet >= t.limit {
		return true
	}
	t.timer.Reset(t.limit - quiet)
	return false
}

func (t *idleTimer) stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}
