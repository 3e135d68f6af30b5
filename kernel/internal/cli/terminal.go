package cli

import (
	"bufio"
	"context"
	"os"
	"time"

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
	// One opened here can be left in the middle of a wait for a line; what else reads stdin need not.
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		return &terminal{in: tty, reader: bufio.NewReader(tty), opened: true}
	}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		return &terminal{in: os.Stdin, reader: bufio.NewReader(os.Stdin)}
	}
	return nil
}

// forget drops what was typed so far: it cannot be the answer to a question that is not asked yet.
func (t *terminal) forget() {
	discardTypeahead(t.in)
	t.reader.Reset(t.in)
}

// hide has keys that are pressed shown nowhere, until back is called: they are for what is asked next, and not for the
// middle of what is being written. They wait.
func (t *terminal) hide() (back func()) { return setEcho(t.in, false) }

// show has keys shown as they are pressed, until back is called.
func (t *terminal) show() (back func()) { return setEcho(t.in, true) }

// line reads one line, or as much of it as there is when ctx ends. Where a wait cannot be left it goes on alone, and
// takes the next line that is typed.
func (t *terminal) line(ctx context.Context) (string, error) {
	type reply struct {
		text string
		err  error
	}
	replies := make(chan reply, 1)
	go func() {
		text, err := t.reader.ReadString('\n')
		replies <- reply{text, err}
	}()
	select {
	case r := <-replies:
		return r.text, r.err
	case <-ctx.Done():
		if t.in.SetReadDeadline(time.Now()) == nil {
			<-replies
			_ = t.in.SetReadDeadline(time.Time{})
		}
		return "", context.Cause(ctx)
	}
}

func (t *terminal) close() {
	if t.opened {
		_ = t.in.Close()
	}
}
