package mcp

import (
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// outbox writes messages one after the other, in a goroutine of its own: nothing wakes a writer of stdout whose reader has
// stopped reading, so whoever waits for it must be able to give up.
type outbox struct {
	out   io.Writer
	queue chan outgoing
	left  chan struct{} // closed when nobody waits for anything to be written any more
	once  sync.Once
	begun atomic.Int64 // when what is being written was begun, in nanoseconds; 0 while nothing is
	// unread is how many messages wait to be written that somebody waits for.
	unread atomic.Int64
}

// outgoing is one message. Nobody waits for one without written.
type outgoing struct {
	text    net.Buffers
	written chan<- error
}

// mostJoined is the size up to which a message of several pieces is written at once, which a pipe takes whole: for each
// write the client is woken.
const mostJoined = 64 << 10

// write sends the message by way of a buffer, which it returns, unless it is large or has one piece only.
func (m outgoing) write(out io.Writer, whole []byte) ([]byte, error) {
	size := 0
	for _, piece := range m.text {
		size += len(piece)
	}
	if len(m.text) <= 1 || size > mostJoined {
		_, err := m.text.WriteTo(out)
		return whole, err
	}
	whole = slices.Grow(whole, size)
	for _, piece := range m.text {
		whole = append(whole, piece...)
	}
	_, err := out.Write(whole)
	return whole, err
}

const (
	// mostUnread is how many messages may wait that nobody waits for: answers to what was no request.
	mostUnread = 1024
	// readPatience is how long a client that sends more of those reads nothing.
	readPatience = 3 * time.Second
	// readFarewell is how long a client that will say no more may take to read one message.
	readFarewell = 2 * time.Second
)

var errUnread = errors.New("the client sends, and does not read what it is answered")

func newOutbox(out io.Writer) *outbox {
	return &outbox{out: out, queue: make(chan outgoing, mostUnread), left: make(chan struct{})}
}

// run writes until the box is left.
func (o *outbox) run() {
	var whole []byte
	for {
		select {
		case m := <-o.queue:
			o.begun.Store(time.Now().UnixNano())
			var err error
			whole, err = m.write(o.out, whole[:0])
			o.begun.Store(0)
			if m.written != nil {
				o.unread.Add(-1)
				m.written <- err
			}
		case <-o.left:
			return
		}
	}
}

// send returns when a message is written, or will never be.
func (o *outbox) send(text net.Buffers) error {
	written := make(chan error, 1)
	o.unread.Add(1)
	select {
	case o.queue <- outgoing{text, written}:
	case <-o.left:
		return io.ErrClosedPipe
	}
	select {
	case err := <-written:
		return err
	case <-o.left:
		return io.ErrClosedPipe
	}
}

// post leaves a message to be written. It waits only for a client that is slow to read.
func (o *outbox) post(text []byte) error {
	m := outgoing{text: net.Buffers{text}}
	select {
	case o.queue <- m:
		return nil
	default:
	}
	patience := time.NewTimer(readPatience)
	defer patience.Stop()
	select {
	case o.queue <- m:
		return nil
	case <-o.left:
		return io.ErrClosedPipe
	case <-patience.C:
		return errUnread
	}
}

// giveUp leaves the box as soon as a message is not read, for a client that will say no more: calls that wait for it to read
// what they have to say could not end. stop ends that.
func (o *outbox) giveUp() (stop func()) {
	began := time.Now()
	tick := time.NewTicker(readFarewell / 20)
	over := make(chan struct{})
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if since := o.begun.Load(); since != 0 && time.Since(later(began, time.Unix(0, since))) > readFarewell {
					o.leave()
				}
			case <-over:
				return
			}
		}
	}()
	return sync.OnceFunc(func() { close(over) })
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// leave ends the waiting. What is being written stays with whoever does not read it.
func (o *outbox) leave() { o.once.Do(func() { close(o.left) }) }
