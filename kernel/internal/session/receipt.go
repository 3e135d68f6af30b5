package session

// Receipt stands for entries that are on their way into the log.
type Receipt struct {
	done     chan struct{}
	sequence int64
	err      error
}

func newReceipt() *Receipt { return &Receipt{done: make(chan struct{})} }

// Wait returns when the entries are in the log, with the sequence of the first, or with the reason why they are not.
// After that they are there even if this process is killed. It may be called by many, and more than once.
func (r *Receipt) Wait() (sequence int64, err error) {
	<-r.done
	return r.sequence, r.err
}

func (r *Receipt) finish(sequence int64, err error) {
	r.sequence, r.err = sequence, err
	close(r.done)
}
