package lineedit

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pty is a terminal, and what was written to it.
type pty struct {
	master, slave *os.File
	mu            sync.Mutex
	seen          strings.Builder
	changed       chan struct{}
}

func newPTY(t *testing.T) *pty {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	require.NoError(t, err)
	p := &pty{master: os.NewFile(uintptr(fd), "/dev/ptmx"), changed: make(chan struct{}, 1)}
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 40}))
	p.slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { p.slave.Close(); p.master.Close() })
	go p.read()
	return p
}

func (p *pty) read() {
	defer close(p.changed)
	buf := make([]byte, 4096)
	for {
		n, err := p.master.Read(buf)
		p.mu.Lock()
		p.seen.Write(buf[:n])
		p.mu.Unlock()
		select {
		case p.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (p *pty) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.String()
}

func (p *pty) waitFor(t *testing.T, text string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !strings.Contains(p.screen(), text) {
		select {
		case <-p.changed:
		case <-deadline:
			require.Fail(t, "not shown", "%q, but %q", text, p.screen())
		}
	}
}

// cooked is whether the terminal hands over lines, as it does outside of Read.
func (p *pty) cooked(t *testing.T) bool {
	t.Helper()
	conn, err := p.slave.SyscallConn()
	require.NoError(t, err)
	var state *unix.Termios
	require.NoError(t, conn.Control(func(fd uintptr) { state, err = unix.IoctlGetTermios(int(fd), unix.TCGETS) }))
	require.NoError(t, err)
	return state.Lflag&unix.ICANON != 0 && state.Lflag&unix.ECHO != 0
}

// queued is how much was typed and not read.
func (p *pty) queued(t *testing.T) (bytes int) {
	t.Helper()
	conn, err := p.slave.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, conn.Control(func(fd uintptr) { bytes, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }))
	require.NoError(t, err)
	return bytes
}

func (p *pty) write(t *testing.T, text string) {
	t.Helper()
	_, err := io.WriteString(p.master, text)
	require.NoError(t, err)
}

type result struct {
	text string
	err  error
}

func read(ctx context.Context, e *Editor) <-chan result {
	c := make(chan result, 1)
	go func() {
		text, err := e.Read(ctx, "> ")
		c <- result{text, err}
	}()
	return c
}

func TestRead(t *testing.T) {
	p := newPTY(t)
	e := New(p.slave, p.slave)
	line := read(t.Context(), e)
	p.waitFor(t, "> ")
	// What is typed ahead, in one piece with a line, is the next line.
	p.write(t, "one\x7fE\rtwo\r\x03\x04") // Ctrl-C right behind Enter is for the line that was sent
	require.Equal(t, result{"onE", nil}, <-line)
	for _, want := range []result{{"two", ErrInterrupted}, {"", io.EOF}} {
		require.Equal(t, want, <-read(t.Context(), e))
		require.True(t, p.cooked(t))
	}
	require.Eventually(t, func() bool { return strings.Count(p.screen(), pasteOff) == 3 }, time.Minute, time.Millisecond)
	require.NotContains(t, p.screen(), "\x1b[6n", "nothing is asked that might not be answered")
}

// A Ctrl-C that was pressed behind Enter is for the line also when it was not read with it, and no other key is taken for
// one; what is typed ahead is lost to neither.
func TestReadIsGivenUpBehindEnter(t *testing.T) {
	for _, tt := range []struct {
		name, behind string
		want         []result
	}{
		{"Ctrl-C", "\x03", []result{{"sent", ErrInterrupted}}},
		{"and another line", "\x03next\r", []result{{"sent", ErrInterrupted}, {"next", nil}}},
		{"twice", "\x03\x03", []result{{"sent", ErrInterrupted}, {"", ErrInterrupted}}},
		{"for the next line", "next\x03", []result{{"sent", nil}, {"", ErrInterrupted}}},
		{"nothing of it", "next\r", []result{{"sent", nil}, {"next", nil}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPTY(t)
			e := New(p.slave, p.slave)
			e.Unfinished = func(string) bool { // asked at Enter, with nothing behind it that was read
				e.Unfinished = nil
				p.write(t, tt.behind)
				require.Eventually(t, func() bool { return p.queued(t) == len(tt.behind) }, time.Minute, time.Millisecond)
				return false
			}
			line := read(t.Context(), e)
			require.Eventually(t, func() bool { return !p.cooked(t) }, time.Minute, time.Millisecond)
			p.write(t, "sent\r")
			require.Equal(t, tt.want[0], <-line)
			for _, want := range tt.want[1:] {
				require.Equal(t, want, <-read(t.Context(), e))
			}
		})
	}
}

// A key that comes in pieces is one key, and Escape alone is one as well, a little later.
func TestReadInPieces(t *testing.T) {
	p := newPTY(t)
	e := New(p.slave, p.slave)
	e.slowest = time.Hour
	e.Complete = func(string, int) Completions { return Completions{Choices: []Choice{{Text: "xa"}, {Text: "xb"}}} }
	line := read(t.Context(), e)
	p.waitFor(t, "> ")
	p.write(t, "b\x1b")
	p.waitFor(t, "> b")
	p.write(t, "[D")
	p.write(t, "a")
	p.waitFor(t, "> ab")
	p.write(t, "\x15\xe6")
	p.write(t, "\x97\xa5\r")
	require.Equal(t, result{"日b", nil}, <-line)

	e.slowest = escapeTime
	line = read(t.Context(), e) // what is typed before the terminal is raw is a line of its own making
	require.Eventually(t, func() bool { return !p.cooked(t) }, time.Minute, time.Millisecond)
	p.write(t, "\t")
	p.waitFor(t, "\n\x1b[K  xa")
	p.write(t, "\x1b")
	p.waitFor(t, "\r\n\x1b[J") // the choices are gone
	p.write(t, "\x15ok\r")
	require.Equal(t, result{"ok", nil}, <-line)
}

// A paste whose end was lost on its way takes no more than Ctrl-C.
func TestReadOfHalfAPaste(t *testing.T) {
	p := newPTY(t)
	line := read(t.Context(), New(p.slave, p.slave))
	p.waitFor(t, "> ")
	p.write(t, pasteStart+"the end of this is lost")
	require.Eventually(t, func() bool {
		p.write(t, "\x03")
		select {
		case r := <-line:
			return errors.Is(r.err, ErrInterrupted)
		default:
			return false
		}
	}, time.Minute, 10*time.Millisecond)
}

// What is too long for a line is left out as a whole, says so, and costs neither the line nor what is typed next.
func TestReadOfAHugePaste(t *testing.T) {
	for name, content := range map[string]string{
		"text": strings.Repeat("some words of a line ", 250_000), "CR LF": strings.Repeat("\r\n", 1<<20), "no text": strings.Repeat("\xff", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPTY(t)
			line := read(t.Context(), New(p.slave, p.slave))
			p.waitFor(t, "> ")
			p.write(t, "before "+pasteStart+content+pasteEnd)
			p.waitFor(t, "  left out: a line holds 256 KiB")
			p.write(t, "behind\r")
			require.Equal(t, result{"before behind", nil}, <-line)
		})
	}
}

func TestReadIsLeft(t *testing.T) {
	p := newPTY(t)
	e := New(p.slave, p.slave)
	ctx, cancel := context.WithCancelCause(t.Context())
	line := read(ctx, e)
	p.waitFor(t, "> ")
	require.False(t, p.cooked(t))
	over := errors.New("over")
	cancel(over)
	require.Equal(t, result{"", over}, <-line)
	require.True(t, p.cooked(t))
	// The wait for a key that was left is that of the next line.
	line = read(t.Context(), e)
	require.Eventually(t, func() bool { return !p.cooked(t) }, time.Minute, time.Millisecond)
	p.write(t, "next\r")
	require.Equal(t, result{"next", nil}, <-line)
}

// Whatever goes wrong while a line is read, the terminal is as it was.
func TestReadPanics(t *testing.T) {
	p := newPTY(t)
	e := New(p.slave, p.slave)
	e.Complete = func(string, int) Completions { panic("a fault") }
	p.write(t, "x\t\n") // a line, as the terminal is not raw yet
	require.PanicsWithValue(t, "a fault", func() { _, _ = e.Read(t.Context(), "> ") })
	require.True(t, p.cooked(t))
	p.waitFor(t, pasteOff)
}

func TestInterject(t *testing.T) {
	p := newPTY(t)
	e := New(p.slave, p.slave)
	write := func(text string) func() { return func() { _, _ = io.WriteString(p.slave, text) } }
	e.Interject(write("before\r\n"))
	line := read(t.Context(), e)
	p.write(t, "half a line")
	p.waitFor(t, "> half a line")
	e.Interject(write("news\r\n"))
	p.waitFor(t, "\r\x1b[Jnews\r\n\r\x1b[K> half a line")
	p.write(t, "\r")
	require.Equal(t, result{"half a line", nil}, <-line)
}
