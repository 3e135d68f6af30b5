package host

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
)

const (
	// longestLine bounds what is kept of one line of a provider's output.
	longestLine = 8 << 10
	// lastLines is how many lines are kept for the text of an error.
	lastLines = 20
)

// lines is an io.Writer that cuts what is written into lines and never refuses or stalls. Of an overlong line it
// keeps the beginning and counts the rest.
type lines struct {
	emit func(line string)

	mu      sync.Mutex
	partial []byte
	dropped int
}

// Write takes p whole.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(p)
	for {
		line, rest, complete := bytes.Cut(p, []byte("\n"))
		l.keep(line)
		if !complete {
			return n, nil
		}
		l.flush()
		p = rest
	}
}

// Flush emits a last line that did not end.
func (l *lines) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.partial) > 0 {
		l.flush()
	}
}

func (l *lines) keep(p []byte) {
	room := min(len(p), longestLine-len(l.partial))
	l.partial = append(l.partial, p[:room]...)
	l.dropped += len(p) - room
}

func (l *lines) flush() {
	line := string(bytes.ToValidUTF8(bytes.TrimSuffix(l.partial, []byte("\r")), []byte("�")))
	if l.dropped > 0 {
		line += fmt.Sprintf("… (%d bytes in all)", len(l.partial)+l.dropped)
	}
	l.partial, l.dropped = l.partial[:0], 0
	l.emit(line)
}

// tail keeps the last lines.
type tail struct {
	mu   sync.Mutex
	kept []string
}

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.kept) == lastLines {
		oldest := 0
		if isDeath(t.kept[0]) { // the stacks behind it may be many
			oldest = 1
		}
		t.kept = slices.Delete(t.kept, oldest, oldest+1)
	}
	t.kept = append(t.kept, line)
}

func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.kept...)
}
