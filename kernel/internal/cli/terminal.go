package cli

import (
	"bufio"
	"os"

	"golang.org/x/term"
)

// terminal is a person who can be asked. Questions go to stderr through the display, answers come from here.
type terminal struct {
	in     *os.File
	reader *bufio.Reader
	opened bool
}

// openTerminal returns nil when nobody can be asked. A person reads stderr; they answer on stdin, or on the
// terminal itself when stdin is something else, such as the arguments of the call.
func openTerminal() *terminal {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil
	}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		return &terminal{in: os.Stdin, reader: bufio.NewReader(os.Stdin)}
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	return &terminal{in: tty, reader: bufio.NewReader(tty), opened: true}
}

// forget drops what was typed so far: it cannot be the answer to a question that is not asked yet.
func (t *terminal) forget() {
	discardTypeahead(t.in)
	t.reader.Reset(t.in)
}

// line reads one line.
func (t *terminal) line() (string, error) { return t.reader.ReadString('\n') }

func (t *terminal) close() {
	if t.opened {
		_ = t.in.Close()
	}
}
