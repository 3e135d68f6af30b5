package session

import "context"

// Receipt stands for an entry that is on its way into the log.
type Receipt struct {
	log      *Log
	done     chan struct{}
	sequence int64
	err      error
}

// Wait returns when the entry is kept, with its sequence, or with the reason why it is not. After that it is there even
// if this process is killed: in the tail of the session, which the database follows. Whoever waits writes what is queued
// there, so that nobody is waited for. When ctx is done it returns the cause of that, and the entry may yet come to be
// there. It may be called by many, and more than once.
func (r *Receipt) Wait(ctx context.Context) (sequence int64, err error) {
	if r.finished() {
		return r.sequence, r.err
	}
	select {
	case r.log.turn <- struct{}{}:
		r.log.write(r)
		<-r.log.turn
	case <-r.done:
	case <-ctx.Done():
	}
	if r.finished() { // whatever became of ctx
		return r.sequence, r.err
	}
	select {
	case <-r.done:
		return r.sequence, r.err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

func (r *Receipt) finish(sequence int64, err error) {
	r.sequence, r.err = sequence, err
	close(r.done)
}

func (r *Receipt) finished() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// Failed reports whether it is known by now that the entry is not in the log. It does not wait.
func (r *Receipt) Failed() bool { return r.finished() && r.err != nil }
