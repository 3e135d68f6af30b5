//go:build !linux

package runner

import (
	"os"
	"sync"
	"time"
)

// watch holds both streams. Elsewhere than on Linux each has a reader of its own, and the
// order between the two is as the readers happen to be woken.
type watch struct{ files []*os.File }

func newWatch(files []*os.File) (*watch, error) { return &watch{files: files}, nil }

func (w *watch) close() error { return nil }

func (w *watch) setDeadline(t time.Time) {
	for _, f := range w.files {
		_ = f.SetReadDeadline(t) // fails when it has ended already
	}
}

// readBoth reads until both streams have ended, or are silent once they are draining.
func (s *streams) readBoth() {
	var readers sync.WaitGroup
	for i, f := range s.watch.files {
		readers.Go(func() { s.readOne(Stream(i), f) })
	}
	readers.Wait()
}

func (s *streams) readOne(stream Stream, f *os.File) {
	defer func() { _ = f.Close() }()
	buffer := make([]byte, chunkSize)
	for left := inFlight; left > 0; {
		if s.draining.Load() {
			_ = f.SetReadDeadline(time.Now().Add(silence))
		}
		n, err := f.Read(buffer)
		s.take(stream, buffer[:n])
		if s.finishing.Load() {
			left -= n
		}
		if err != nil {
			return // the end of the stream, EIO on a terminal, or it was abandoned
		}
	}
}
