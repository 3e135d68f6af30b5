package conformance

import (
	"regexp"
	"strings"
	"sync"
)

// lastWords keeps the end of what a process prints on stderr, where the reason of its death stands.
type lastWords struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps b, and of what was before as much as there is room for.
func (l *lastWords) Write(b []byte) (int, error) {
	const most = 64 << 10
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, b...)
	if len(l.text) > most {
		l.text = append([]byte(nil), l.text[len(l.text)-most:]...)
	}
	return len(b), nil
}

// String is the reason, with what leads to it; empty when nothing was printed.
func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if reason := reasonIn(string(l.text)); reason != "" {
		return ": " + reason
	}
	return ""
}

var (
	// reasons are the lines by which the runtimes of languages begin, or end, a stack trace.
	reasons = regexp.MustCompile(`(?m)^(panic: |fatal error: |thread '.*' panicked at |Exception in thread |(Uncaught )?\w*(Error|Exception)\b).*$`)
	traces  = regexp.MustCompile(`(?m)^(goroutine \d+ \[|Traceback \(most recent call last\)|\s+at .+:\d+:\d+\)?$|\s+at .+\(.+:\d+\)$|stack backtrace:|panic: |fatal error: |thread '.*' panicked at )`)
)

// reasonIn finds the line that says why a process died: the one of its runtime, or else the last ones.
func reasonIn(text string) string {
	const most = 3
	if line := reasons.FindString(text); line != "" {
		return strings.TrimSpace(line)
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], "; ")
}

// isTrace reports text that is made for who wrote the program, not for who starts it.
func isTrace(text string) bool { return traces.MatchString(text) }
