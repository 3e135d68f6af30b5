package session

// Receipt stands for entries that are on their way into the log.
type Receipt struct {
	done     chan struct{}
	hurry    chan<- struct{} // tells the writer that somebody waits
	sequence int64
	err      error
}

func newReceipt(hurry chan<- struct{}) *Receipt {
	return &Receipt{done: make(chan struct{}), hurry: hurry}
}

// Wait returns when the entries are in the log, with the sequence of the first, or with the reason why they are not.
// After that they are there even if this process is killed. It may be called by many, and more than once.
func (r *Receipt) Wait() (sequence int64, err error) {
	select {
	case r.hurry <- struct{}{}:
	default: // the writer has been told already and has not looked yet
	}
	<-r.done
	return r.sequence, r.err
}

func (r *Receipt) finish(sequence int64, err error) {
	r.sequence, r.err = sequence, err
	close(r.done)
}
