package runner

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentco/agent/providers/bash/internal/terminal"
)

// silence is how long a stream must be quiet, once the command is over, before it is
// given up although somebody still holds it open.
const silence = 200 * time.Millisecond

// inFlight is the most that a terminal or a pipe holds. Once all processes of a command
// are gone, what comes after that many bytes is somebody else's.
const inFlight = 1 << 20

// streams reads both outputs of a command into a relay.
type streams struct {
	out, err terminal.Stream
	relay    *relay

	draining  atomic.Bool
	finishing atomic.Bool
	lastRead  atomic.Int64 // unix nanoseconds
	readers   sync.WaitGroup
	done      chan struct{} // closed when both have ended and the relay is closed
}

// openStreams opens two terminals, or two pipes if size is nil.
func openStreams(size *terminal.Size) (*streams, error) {
	open := terminal.Pipe
	if size != nil {
		open = func() (terminal.Stream, error) { return terminal.Open(*size) }
	}
	out, err := open()
	if err != nil {
		return nil, err
	}
	stderr, err := open()
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return &streams{out: out, err: stderr, relay: newRelay(), done: make(chan struct{})}, nil
}

// close gives up both streams before they were read.
func (s *streams) close() { _, _ = s.out.Close(), s.err.Close() }

// read starts reading. Our own copies of the writing ends are closed first: as long as
// one is open there is no end.
func (s *streams) read() {
	_, _ = s.out.Writer.Close(), s.err.Writer.Close()
	s.lastRead.Store(time.Now().UnixNano())
	s.readers.Go(func() { s.readOne(Stdout, s.out.Reader) })
	s.readers.Go(func() { s.readOne(Stderr, s.err.Reader) })
	go func() {
		s.readers.Wait()
		s.relay.close()
		close(s.done)
	}()
}

// drain makes each stream end by itself after a silence.
func (s *streams) drain() {
	s.draining.Store(true)
	for _, f := range []*os.File{s.out.Reader, s.err.Reader} {
		_ = f.SetReadDeadline(time.Now().Add(silence)) // fails when it has ended already
	}
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

func (s *streams) readOne(stream Stream, f *os.File) {
	defer func() { _ = f.Close() }()
	buffer := make([]byte, chunkSize)
	for left := inFlight; left > 0; {
		if s.draining.Load() {
			_ = f.SetReadDeadline(time.Now().Add(silence))
		}
		n, err := f.Read(buffer)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			n, err = lastLook(f, buffer)
		}
		if n > 0 {
			s.relay.put(stream, buffer[:n])
			s.lastRead.Store(time.Now().UnixNano())
		}
		if s.finishing.Load() {
			left -= n
		}
		if err != nil {
			return // the end of the stream, EIO on a terminal, or it was abandoned
		}
	}
}

// lastLook reads what may have come while this goroutine had no processor to run on: a
// deadline that has passed fails a Read even if there is something to read.
func lastLook(f *os.File, buffer []byte) (n int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	if refused := raw.Control(func(fd uintptr) { n, err = unix.Read(int(fd), buffer) }); refused != nil {
		return 0, refused
	}
	if err == nil && n <= 0 {
		err = os.ErrDeadlineExceeded
	}
	return max(n, 0), err
}
