package sdk

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// spillBytes bounds what waits for somebody to read standard error.
	spillBytes = 1 << 20
	// spillPatience is how long that is waited for at the end of the process.
	spillPatience = 5 * time.Second
)

// spill is where the SDK itself writes what no kernel takes: to standard error, which may be a pipe that nobody reads any more.
// It never waits; what it has no room for is counted.
type spill struct {
	out *os.File

	mu      sync.Mutex
	waiting strings.Builder
	dropped int           // lines
	written chan struct{} // closed when nothing waits any more; nil when nothing does
}

// printf adds a line.
func (s *spill) printf(format string, args ...any) {
	_, _ = s.Write(fmt.Appendf(nil, format+"\n", args...))
}

// Write adds a line, or several, and takes p whole.
func (s *spill) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting.Len()+len(p) > spillBytes {
		s.dropped++
		return len(p), nil
	}
	s.waiting.Write(p)
	if s.written == nil {
		s.written = make(chan struct{})
		go s.run()
	}
	return len(p), nil
}

// run writes until nothing waits.
func (s *spill) run() {
	for text := s.take(); text != ""; text = s.take() {
		_, _ = s.out.WriteString(text) // there is nowhere else to say that it failed
	}
}

func (s *spill) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dropped > 0 {
		fmt.Fprintf(&s.waiting, "%d lines more were dropped, since nobody reads them\n", s.dropped)
		s.dropped = 0
	}
	text := s.waiting.String()
	s.waiting.Reset()
	if text == "" {
		close(s.written)
		s.written = nil
	}
	return text
}

// flush returns when everything is written, or nobody has read it for long.
func (s *spill) flush() {
	s.mu.Lock()
	written := s.written
	s.mu.Unlock()
	if written == nil {
		return
	}
	timer := time.NewTimer(spillPatience)
	defer timer.Stop()
	select {
	case <-written:
	case <-timer.C:
	}
}
