package runner

import (
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/agentco/agent/providers/bash/internal/terminal"
)

// silence is how long the streams must be quiet, once the command is over, before they
// are given up although somebody still holds them open.
const silence = 200 * time.Millisecond

// inFlight is the most that a terminal or a pipe holds. Once all processes of a command
// are gone, what comes after that many bytes is somebody else's.
const inFlight = 1 << 20

// streams reads both outputs of a command into a relay. If they are one, so are out and err.
type streams struct {
	out, err terminal.Stream
	readers  []*os.File // by Stream
	watch    *watch
	relay    *relay

	draining  atomic.Bool
	finishing atomic.Bool
	lastRead  atomic.Int64  // unix nanoseconds
	done      chan struct{} // closed when both have ended and the relay is closed
}

// openStreams opens two terminals, or two pipes, or one terminal to be typed at.
func (c Command) openStreams() (*streams, error) {
	if c.Typed {
		both, err := terminal.OpenForInput(*c.Terminal)
		if err != nil {
			return nil, err
		}
		return newStreams(both, both, both.Reader)
	}
	open := terminal.Pipe
	if c.Terminal != nil {
		open = func() (terminal.Stream, error) { return terminal.Open(*c.Terminal) }
	}
	out, err := open()
	if err != nil {
		return nil, err
	}
	stderr, err := open()
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return newStreams(out, stderr, out.Reader, stderr.Reader)
}

func newStreams(out, stderr terminal.Stream, readers ...*os.File) (*streams, error) {
	s := &streams{out: out, err: stderr, readers: readers, relay: newRelay(), done: make(chan struct{})}
	var err error
	if s.watch, err = newWatch(readers); err != nil {
		return nil, errors.Join(err, out.Close(), stderr.Close())
	}
	return s, nil
}

// close gives up both streams before they were read.
func (s *streams) close() { _, _, _ = s.watch.close(), s.out.Close(), s.err.Close() }

// read starts reading. Our own copies of the writing ends are closed first: as long as
// one is open there is no end. That of a terminal that is typed at stays open until
// release: a command may let go of the terminal for a while, or for good, and would be hung
// up if we took that for the end.
func (s *streams) read() {
	if !s.shared() {
		s.release()
	}
	s.lastRead.Store(time.Now().UnixNano())
	go func() {
		s.readBoth()
		s.relay.close()
		close(s.done)
	}()
}

// shared reports whether both outputs are one terminal, which is then also the input.
func (s *streams) shared() bool { return len(s.readers) == 1 }

// release closes the writing ends that we hold. It may be called twice.
func (s *streams) release() { _, _ = s.out.Writer.Close(), s.err.Writer.Close() }

// drain makes the streams end by themselves after a silence.
func (s *streams) drain() {
	s.draining.Store(true)
	s.watch.setDeadline(time.Now().Add(silence))
}

// finish makes both streams end although somebody outside the command, who got hold of
// them, may go on writing for ever.
func (s *streams) finish() {
	s.finishing.Store(true)
	s.drain()
}

// quietFor is how long nothing has come. Output that waits for a slow consumer holds
// the command up, so the command is not to blame for that quiet.
func (s *streams) quietFor() time.Duration {
	if s.relay.pending() > 0 {
		return 0
	}
	return time.Since(time.Unix(0, s.lastRead.Load()))
}

// take hands on what was read.
func (s *streams) take(stream Stream, p []byte) {
	if len(p) > 0 {
		s.relay.put(stream, p)
		s.lastRead.Store(time.Now().UnixNano())
	}
}
