package session

import "context"

// Receipt stands for an entry that is on its way into the log.
type Receipt struct {
	done     chan struct{}
	hurry    chan<- struct{} // tells the writer that somebody waits
	sequence int64
	err      error
}

func newReceipt(hurry chan<- struct{}) *Receipt {
	return &Receipt{done: make(chan struct{}), hurry: hurry}
}

// Wait returns when the entry is in the log, with its sequence, or with the reason why it is not. After that it is there
// even if this process is killed. When ctx is done it returns the cause of that, and the entry may yet come to be there.
// It may be called by many, and more than once.
func (r *Receipt) Wait(ctx context.Context) (sequence int64, err error) {
	select {
	case r.hurry <- struct{}{}:
	default: // the writer has been told already and has not looked yet
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

// Failed reports whether it is known by now that the entry is not in the log. It does not wait.
func (r *Receipt) Failed() bool {
	select {
	case <-r.done:
		return r.err != nil
	default:
		return false
	}
}
