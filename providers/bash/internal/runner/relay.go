package runner

import (
	"sync"
	"time"
)

// Stream tells the two outputs of a command apart.
type Stream int

// The streams.
const (
	Stdout Stream = iota
	Stderr
)

const (
	chunkSize = 32 << 10 // the most that is delivered at once
	roomSize  = 256 << 10
	maxRuns   = 4096 // bounds the bookkeeping when the streams alternate byte by byte

	// pace is the least time between two deliveries that are smaller than a chunk. A
	// read of a terminal brings 4 KiB at best; sending each by itself costs more than
	// reading it.
	pace = 5 * time.Millisecond
)

// relay carries the output of two readers to one consumer, in the order in which it
// was read. It holds at most two rooms: one that fills while the other is delivered. A
// reader that finds the room full waits, so a slow consumer slows the command down and
// memory stays bounded.
type relay struct {
	mu      sync.Mutex
	space   sync.Cond // signalled when a room was emptied
	filling room
	closed  bool

	// wake has something in it when there is news: first data, a full chunk, the end.
	wake chan struct{}
}

// room is a stretch of output and how it divides between the streams.
type room struct {
	data []byte
	runs []run
}

type run struct {
	stream Stream
	length int
}

func newRelay() *relay {
	r := &relay{wake: make(chan struct{}, 1)}
	r.space.L = &r.mu
	return r
}

// put appends p, which must be at most a chunk, and waits until there is room for it.
func (r *relay) put(s Stream, p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.filling.data)+len(p) > roomSize || len(r.filling.runs) >= maxRuns {
		r.space.Wait()
	}
	before := len(r.filling.data)
	r.filling.add(s, p)
	if before == 0 || before < chunkSize && len(r.filling.data) >= chunkSize {
		r.notify()
	}
}

func (m *room) add(s Stream, p []byte) {
	m.data = append(m.data, p...)
	if n := len(m.runs); n > 0 && m.runs[n-1].stream == s {
		m.runs[n-1].length += len(p)
		return
	}
	m.runs = append(m.runs, run{s, len(p)})
}

// close says that nothing more will be put.
func (r *relay) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.notify()
}

func (r *relay) notify() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// pending is how much waits for the consumer.
func (r *relay) pending() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.filling.data)
}

// pump delivers until the relay is closed and empty: the first bytes at once, the
// following in chunks. The slice is deliver's only until it returns.
func (r *relay) pump(deliver func(Stream, []byte)) {
	var emptied room
	for {
		full, end := r.swap(emptied)
		full.deliver(deliver)
		if end {
			return
		}
		emptied = room{data: full.data[:0], runs: full.runs[:0]}
		r.await(len(full.data) > 0)
	}
}

// swap takes the full room and leaves the empty one.
func (r *relay) swap(empty room) (full room, end bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	full, r.filling = r.filling, empty
	r.space.Broadcast()
	return full, r.closed
}

func (m *room) deliver(deliver func(Stream, []byte)) {
	data := m.data
	for _, run := range m.runs {
		for left := run.length; left > 0; {
			n := min(left, chunkSize)
			deliver(run.stream, data[:n])
			data, left = data[n:], left-n
		}
	}
}

// await returns when there is something to deliver, and if something was delivered just
// now, not before a chunk is full or the pace allows.
func (r *relay) await(paced bool) {
	if paced {
		r.rest()
	}
	for {
		r.mu.Lock()
		ready := r.closed || len(r.filling.data) > 0
		r.mu.Unlock()
		if ready {
			return
		}
		<-r.wake
	}
}

func (r *relay) rest() {
	timer := time.NewTimer(pace)
	defer timer.Stop()
	for {
		r.mu.Lock()
		ready := r.closed || len(r.filling.data) >= chunkSize
		r.mu.Unlock()
		if ready {
			return
		}
		select {
		case <-r.wake:
		case <-timer.C:
			return
		}
	}
}
