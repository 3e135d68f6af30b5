package runner

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/agentco/agent/providers/bash/internal/terminal"
)

// typingLimit is how long a command may take to read what is typed once the terminal is
// full, which holds some 4 KiB of lines and 64 KiB beyond.
const typingLimit = 5 * time.Second

var (
	// ErrNoInput is returned by Type for a command that is not typed at.
	ErrNoInput = errors.New("it has no terminal to type at")
	// ErrOver is returned by Type once the shell has exited.
	ErrOver = errors.New("its terminal is closed")
	// ErrUnread is returned by Type when the command does not read.
	ErrUnread = errors.New("it does not read its input")
	// ErrLine is returned by Type for a line that the system would cut.
	ErrLine = fmt.Errorf("a line is longer than the %d bytes that a terminal takes", terminal.MaxLine)
)

// Type types p at the terminal of the command and returns how much of it was taken. What a
// key sends is sent: "\r" for Enter, "\x03" for Ctrl-C, "\x04" for Ctrl-D. The error is one
// of the above. With ErrLine nothing was typed.
func (e *Execution) Type(p []byte) (n int, err error) {
	if !e.command.Typed {
		return 0, ErrNoInput
	}
	e.typing.Lock()
	defer e.typing.Unlock()
	keyboard := e.streams.out.Reader
	lines, err := terminal.TakesLines(keyboard)
	if err != nil {
		return 0, ErrOver
	}
	if lines && longest(e.line, p) > terminal.MaxLine {
		return 0, ErrLine
	}
	if err = keyboard.SetWriteDeadline(time.Now().Add(typingLimit)); err == nil {
		n, err = keyboard.Write(p)
	}
	e.line = rest(e.line, p[:n])
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, ErrUnread
	case err != nil: // EIO, or closed by the reader after its EIO
		return n, ErrOver
	}
	return n, nil
}

// lineEnds are the keys that hand a line to whoever reads it, or take it back.
const lineEnds = "\r\n\x03\x04\x15\x1c"

// longest is the length of the longest line when p follows begun bytes of one.
func longest(begun int, p []byte) int {
	most := begun
	for {
		end := bytes.IndexAny(p, lineEnds)
		if end < 0 {
			return max(most, begun+len(p))
		}
		most, begun, p = max(most, begun+end+1), 0, p[end+1:]
	}
}

// rest is the length of the line that is not at its end yet.
func rest(begun int, p []byte) int {
	if end := bytes.LastIndexAny(p, lineEnds); end >= 0 {
		return len(p) - end - 1
	}
	return begun + len(p)
}
