//go:build linux

package runner

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/agentco/agent/providers/bash/internal/keeper"
	"github.com/agentco/agent/providers/bash/internal/terminal"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		play(role)
	}
	goleak.VerifyTestMain(m)
}

func open(t testing.TB) *keeper.Pool {
	t.Helper()
	pool, err := keeper.Open(nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	return pool
}

func command(t testing.TB, script string) Command {
	t.Helper()
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	dir, err := os.Open(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = null.Close(), dir.Close() })
	return Command{
		Spec: keeper.Spec{
			Path: "/bin/bash", Args: []string{"bash", "-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")},
			Dir: dir, Stdin: null,
		},
		Terminal: &terminal.Size{Columns: 80, Rows: 24},
		Timeout:  time.Minute, Grace: time.Minute,
	}
}

// collector keeps what is delivered.
type collector struct{ out [2]bytes.Buffer }

func (c *collector) deliver(s Stream, p []byte) { c.out[s].Write(p) }

const stubborn = "trap '' TERM; echo up; while :; do sleep 1000; done"

func TestReasons(t *testing.T) {
	pool := open(t)
	for _, c := range []struct {
		name   string
		script string
		change func(*Command)
		want   Outcome
	}{
		{"exit", "exit 3", func(*Command) {}, Outcome{Status: keeper.Status{Code: 3}}},
		{"timeout", "sleep 1000", func(c *Command) { c.Timeout = 50 * time.Millisecond },
			Outcome{Status: keeper.Status{Code: 143, Signal: "SIGTERM"}, Reason: TimedOut}},
		{"stubborn", stubborn, func(c *Command) { c.Grace = 50 * time.Millisecond },
			Outcome{Status: keeper.Status{Code: 137, Signal: "SIGKILL"}, Reason: TimedOut, Killed: true}},
		{"stubborn and deserted", stubborn, func(c *Command) { c.Grace, c.Deserted = time.Hour, func() bool { return true } },
			Outcome{Status: keeper.Status{Code: 137, Signal: "SIGKILL"}, Reason: TimedOut, Killed: true}},
		{"no grace", "sleep 1000", func(c *Command) { c.Idle, c.Grace = 50*time.Millisecond, 0 }, Outcome{Reason: Idled}},
		{"silence below the limit", "for i in 1 2 3; do sleep 0.2; echo; done; exit 4", func(c *Command) { c.Idle = time.Minute },
			Outcome{Status: keeper.Status{Code: 4}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := command(t, c.script)
			c.change(&cmd)
			var o Outcome
			var kept collector
			run := func() (err error) {
				o, err = Run(t.Context(), pool, cmd, kept.deliver)
				return err
			}
			if c.script == stubborn { // a slow machine gets longer to become it
				cmd.Timeout = time.Second / 2
				for kept.out[Stdout].Len() == 0 {
					cmd.Timeout *= 2
					require.NoError(t, run())
				}
			} else {
				require.NoError(t, run())
			}
			o.Duration = 0
			if c.want.Status == (keeper.Status{}) {
				o.Status, o.Killed = keeper.Status{}, false // either signal may have been first
			}
			require.Equal(t, c.want, o)
		})
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var kept collector
	o, err := Run(ctx, open(t), command(t, "echo up; exec sleep 1000"), func(s Stream, p []byte) {
		kept.deliver(s, p)
		cancel()
	})
	require.NoError(t, err)
	require.Equal(t, Cancelled, o.Reason)
	require.Equal(t, "SIGTERM", o.Status.Signal)
	require.Equal(t, "up\n", kept.out[Stdout].String())
}

// A background process that never stops printing does not hold up the result, and a
// consumer that is slower than any limit here loses nothing of what the shell printed.
func TestEndOfOutput(t *testing.T) {
	pool := open(t)
	t.Run("endless background", func(t *testing.T) {
		var kept collector
		o, err := Run(t.Context(), pool, command(t, "echo first; setsid sh -c 'while :; do echo tick; sleep 0.01; done' & exit 6"), kept.deliver)
		require.NoError(t, err)
		require.Equal(t, 6, o.Status.Code)
		require.Contains(t, kept.out[Stdout].String(), "first\n")
	})
	t.Run("last word of a background process", func(t *testing.T) {
		for attempt := 1; ; attempt++ { // a slow machine may take longer to print it than it is waited for
			var kept collector
			_, err := Run(t.Context(), pool, command(t, "(sleep 0.05; echo late) & echo early"), kept.deliver)
			require.NoError(t, err)
			if printed := kept.out[Stdout].String(); printed != "early\n" || attempt == 100 {
				require.Equal(t, "early\nlate\n", printed)
				break
			}
		}
	})
	t.Run("slow consumer", func(t *testing.T) {
		var kept collector
		cmd := command(t, "head -c 1000000 /dev/zero; sleep 1000 & exit 0")
		_, err := Run(t.Context(), pool, cmd, func(s Stream, p []byte) {
			time.Sleep(20 * time.Millisecond) // this is the slowness itself
			kept.deliver(s, p)
		})
		require.NoError(t, err)
		require.Equal(t, 1_000_000, kept.out[Stdout].Len())
	})
	t.Run("held and written by a stranger", func(t *testing.T) {
		var kept collector
		stop := make(chan struct{})
		defer func() { <-stop }()
		o, err := Run(t.Context(), pool, command(t, "tty <&1; read -t 0.3 x </dev/stdout; exit 9"), func(s Stream, p []byte) {
			if kept.deliver(s, p); kept.out[s].Len() == len(p) {
				go write(string(bytes.TrimSpace(p)), stop)
			}
		})
		require.NoError(t, err)
		require.Equal(t, 9, o.Status.Code)
	})
}

// write opens a terminal by name and writes to it until it is hung up.
func write(name string, stopped chan<- struct{}) {
	defer close(stopped)
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	for err == nil {
		_, err = f.WriteString("stranger\n")
	}
}

func TestWithoutTerminal(t *testing.T) {
	cmd := command(t, "test -t 1 || echo pipe; seq 100000 >&2")
	cmd.Terminal = nil
	var kept collector
	_, err := Run(t.Context(), open(t), cmd, kept.deliver)
	require.NoError(t, err)
	require.Equal(t, "pipe\n", kept.out[Stdout].String())
	require.Equal(t, 588895, kept.out[Stderr].Len())
}

func TestManyAtOnce(t *testing.T) {
	pool := open(t)
	results := make(chan string)
	for i := range 16 {
		go func() {
			var kept collector
			_, err := Run(t.Context(), pool, command(t, "sleep 0.1; echo "+strconv.Itoa(i)), kept.deliver)
			if err != nil {
				kept.deliver(Stdout, []byte(err.Error()))
			}
			results <- kept.out[Stdout].String()
		}()
	}
	var got, want []string
	for i := range 16 {
		got, want = append(got, <-results), append(want, strconv.Itoa(i)+"\n")
	}
	require.ElementsMatch(t, want, got)
}

// What was printed first is read first. Both terminals are filled by the kernel at its own
// pace, so now and then a pair is not in order.
func TestOrderOfArrival(t *testing.T) {
	pool := open(t)
	for _, c := range []struct {
		name, script, want string
		least              int
	}{
		{"stdout first", "echo 1; echo 2 >&2", "1\n2\n", 25},
		{"stderr first", "echo 1 >&2; echo 2", "1\n2\n", 25},
		// On a busy machine two pieces of one stream may have come before the first is read.
		{"in turns", "echo 1; /bin/echo 2 >&2; /bin/echo 3; /bin/echo 4 >&2", "1\n2\n3\n4\n", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []*terminal.Size{nil, {Columns: 80, Rows: 24}} {
				right, rounds := 0, 0
				for ; right < c.least && rounds < 2000; rounds++ {
					cmd := command(t, c.script)
					cmd.Terminal = size
					var both bytes.Buffer
					_, err := Run(t.Context(), pool, cmd, func(_ Stream, p []byte) { both.Write(p) })
					require.NoError(t, err)
					if both.String() == c.want {
						right++
					}
				}
				t.Logf("terminal %v: %d of %d", size != nil, right, rounds)
				require.Equal(t, c.least, right)
			}
		})
	}
}

// A process that is being started elsewhere holds copies of what is being read, so the end of a
// stream is there for longer than the stream. It is told once, and the other is read to its own end.
func TestEndWhileACopyIsHeld(t *testing.T) {
	for name, size := range map[string]*terminal.Size{"terminal": {Columns: 80, Rows: 24}, "pipe": nil} {
		t.Run(name, func(t *testing.T) {
			s, err := Command{Terminal: size}.openStreams()
			require.NoError(t, err)
			held, err := unix.FcntlInt(s.readers[Stderr].Fd(), unix.F_DUPFD_CLOEXEC, 0)
			require.NoError(t, err)
			defer func() { require.NoError(t, unix.Close(held)) }()
			out, err := unix.FcntlInt(s.out.Writer.Fd(), unix.F_DUPFD_CLOEXEC, 0)
			require.NoError(t, err)
			writer := os.NewFile(uintptr(out), "out")
			s.read() // stderr is at its end
			var got collector
			pumped := make(chan struct{})
			go func() {
				defer close(pumped)
				s.relay.pump(func(stream Stream, p []byte) {
					got.deliver(stream, p)
					if bytes.HasSuffix(p, []byte("first\n")) {
						_, _ = writer.WriteString("last\n")
						_ = writer.Close()
					}
				})
			}()
			_, err = writer.WriteString("first\n")
			require.NoError(t, err)
			<-pumped
			require.Equal(t, "first\nlast\n", got.out[Stdout].String())
		})
	}
}
