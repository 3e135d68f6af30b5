// Package terminal opens the streams a command writes to: a raw terminal each for
// its stdout and its stderr, or plain pipes.
//
// A command that sees a terminal writes line by line instead of in blocks of 4 KiB,
// so its output arrives while it works. The terminal is raw, which means that every
// byte comes out as it went in: no carriage return added, nothing echoed. A command that
// is typed at has one terminal for its input and both outputs.
package terminal

import (
	"errors"
	"fmt"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// ErrUnavailable says that the system has no terminal to give: none is set up, or too many are in use.
var ErrUnavailable = errors.New("there is no terminal to be had")

// Size is what the command is told about the width and height of its terminal.
type Size struct{ Columns, Rows int }

// Stream is one direction of output: what is written to Writer comes out of Reader.
// Reader takes deadlines, and closing it wakes a blocked Read. When the last Writer is
// closed, a Read fails with EOF on a pipe and EIO on a terminal, after all that was
// written has been read.
type Stream struct{ Reader, Writer *os.File }

// Close closes both ends.
func (s Stream) Close() error { return errors.Join(s.Reader.Close(), s.Writer.Close()) }

// Pipe returns a stream without a terminal.
func Pipe() (Stream, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return Stream{}, fmt.Errorf("open a pipe: %w", err)
	}
	stream := Stream{Reader: reader, Writer: writer}
	if err := blocking(writer); err != nil {
		return Stream{}, errors.Join(err, stream.Close())
	}
	return stream, nil
}

// Open returns a stream whose Writer is a raw terminal of the given size.
func Open(size Size) (Stream, error) { return open(size, makeRaw) }

// OpenForInput is Open for a terminal that is also an input: what is written to Reader is
// typed. It takes lines and keys such as Ctrl-C until the command decides otherwise.
func OpenForInput(size Size) (Stream, error) { return open(size, makeQuiet) }

// MaxLine is the longest line that can be typed at a terminal that takes lines, its end
// included. The system drops what is more.
const MaxLine = 4095

// TakesLines reports whether a terminal, whose other end is Reader, reads line by line.
func TakesLines(reader *os.File) (bool, error) {
	var t *unix.Termios
	raw, err := reader.SyscallConn()
	if err != nil {
		return false, err
	}
	refused := raw.Control(func(fd uintptr) { t, err = unix.IoctlGetTermios(int(fd), getTermios) })
	if err := errors.Join(refused, err); err != nil {
		return false, err
	}
	return t.Lflag&unix.ICANON != 0, nil
}

func open(size Size, mode func(fd int) error) (Stream, error) {
	stream, err := openPair()
	if err != nil {
		return Stream{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if err := prepare(stream, size, mode); err != nil {
		return Stream{}, errors.Join(err, stream.Close())
	}
	return stream, nil
}

// prepare sets size and modes before anything can be started on the terminal, so that
// no command ever sees a window of 0 by 0.
func prepare(stream Stream, size Size, mode func(fd int) error) error {
	window := &pty.Winsize{Cols: uint16(size.Columns), Rows: uint16(size.Rows)}
	if err := pty.Setsize(stream.Writer, window); err != nil {
		return fmt.Errorf("size the terminal: %w", err)
	}
	if err := mode(int(stream.Writer.Fd())); err != nil {
		return fmt.Errorf("set the modes of the terminal: %w", err)
	}
	return nil
}

// blocking clears O_NONBLOCK, which a child would inherit and fail on with EAGAIN
// whenever it writes faster than we read.
func blocking(f *os.File) error {
	if err := unix.SetNonblock(int(f.Fd()), false); err != nil {
		return fmt.Errorf("make %s blocking: %w", f.Name(), err)
	}
	return nil
}
