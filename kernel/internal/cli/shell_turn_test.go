package cli

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/gate"
)

// typist types lines, each in a way of its own.
type typist []func(ctx context.Context) (string, error)

func (in *typist) next(ctx context.Context, _ string) (string, error) {
	line := (*in)[0]
	*in = (*in)[1:]
	return line(ctx)
}

func (in *typist) hide() (back func()) { return func() {} }
func (in *typist) close()              {}

// shellOf is a shell without providers of somebody who types, and what their Ctrl-C does.
func shellOf(t *testing.T, in ...func(ctx context.Context) (string, error)) (sh *shell, press func(), said func() string) {
	t.Helper()
	a, said := onFiles(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	a.ctx, a.cancel = ctx, cancel
	e, err := engine.Open(ctx, engine.Options{ProjectRoot: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(e.Close)
	typed := typist(in)
	sh = &shell{app: a, person: true, input: &typed, session: e.Session(engine.SessionOptions{}), project: &project{Project: &config.Project{Root: t.TempDir()}}, config: watchFile("")}
	press = func() {
		a.kill.heard = time.Time{} // the one before is long ago
		a.hear(os.Interrupt)
	}
	return sh, press, said
}

// A Ctrl-C gives up the turn that it is pressed in, and nothing else.
func TestTurnIsGivenUp(t *testing.T) {
	const given = "cancelled: nothing was called\n"
	tests := []struct {
		name string
		line func(ctx context.Context, press func()) (string, error)
		want string
		over bool
	}{
		{"not at all", func(context.Context, func()) (string, error) { return "nonsense", nil },
			"error: \"nonsense\" is neither PROVIDER.TOOL nor /COMMAND: 'tools' lists what there is\n", false},
		{"while it is typed", func(ctx context.Context, press func()) (string, error) {
			press()
			<-ctx.Done()
			return "", context.Cause(ctx)
		}, "", false},
		{"by its key", func(context.Context, func()) (string, error) { return "", errInterrupted }, "", false},
		{"behind Enter, by the signal", func(_ context.Context, press func()) (string, error) {
			press()
			return "nonsense", nil
		}, given, false},
		{"behind Enter, by its key", func(context.Context, func()) (string, error) { return "nonsense", errInterrupted }, given, false},
		{"twice", func(_ context.Context, press func()) (string, error) {
			press()
			press()
			return "nonsense", nil
		}, given, false},
		{"before the first of two lines", func(_ context.Context, press func()) (string, error) {
			press()
			return "nonsense\nexit", nil
		}, given + "not run: 1 line behind it\n", false},
		{"that would leave", func(_ context.Context, press func()) (string, error) {
			press()
			return "exit", nil
		}, given, false},
		{"and left", func(context.Context, func()) (string, error) { return "exit", nil }, "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var press func()
			sh, pressed, said := shellOf(t, func(ctx context.Context) (string, error) { return tt.line(ctx, press) },
				func(context.Context) (string, error) { return "exit", nil })
			press = pressed
			sh.kill.set(func() { require.Fail(t, "killed") })
			defer sh.kill.bring(unheard())()
			over, err := sh.takeTurn()
			require.NoError(t, err)
			require.Equal(t, tt.over, over)
			require.Equal(t, tt.want, said())
			if over {
				return
			}
			press() // between two turns
			over, err = sh.takeTurn()
			require.NoError(t, err)
			require.True(t, over, "the next turn is its own")
			require.NoError(t, sh.ctx.Err())
			require.Equal(t, tt.want, said())
		})
	}
}

// What runs is cancelled, and killed by a second Ctrl-C; once it has ended there is neither to do nor to say anything.
func TestCallOfATurnIsGivenUp(t *testing.T) {
	tests := []struct {
		name   string
		call   func(sh *shell, press func())
		said   string
		killed bool
	}{
		{"once", func(_ *shell, press func()) { press() }, cancelling + "\n", false},
		{"twice", func(_ *shell, press func()) { press(); press() }, cancelling + "\nkilling\n", true},
		{"as it has ended", func(sh *shell, press func()) { sh.kill.ended(); press(); press() }, "", false},
		{"before and after it has ended", func(sh *shell, press func()) { press(); sh.kill.ended(); press() }, cancelling + "\n", false},
		{"while an editor has the terminal, and after", func(sh *shell, press func()) {
			back := sh.kill.lend()
			press()
			back()
			require.NoError(t, sh.ctx.Err())
			press()
		}, cancelling + "\n", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sh, press, said := shellOf(t)
			killed := false
			sh.kill.set(func() { killed = true })
			end := sh.beginTurn()
			program := sh.ctx
			require.NoError(t, sh.inForeground(func() error {
				tt.call(sh, press)
				require.ErrorIs(t, context.Cause(sh.ctx), errInterrupted)
				return nil
			}))
			press() // behind the call, before another line of the turn
			require.ErrorIs(t, context.Cause(sh.turn.ctx), errInterrupted)
			end()
			require.NoError(t, program.Err())
			require.Equal(t, tt.said, said())
			require.Equal(t, tt.killed, killed)
		})
	}
}

// Nobody is asked about what was given up.
func TestGivenUpBeforeTheQuestion(t *testing.T) {
	a, said := onFiles(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errInterrupted)
	_, err := (&prompt{display: a.display}).Approve(ctx, []gate.Question{{}})
	require.ErrorIs(t, err, errInterrupted)
	require.Empty(t, said())
}

// A signal that ends the program is no echo of a Ctrl-C that only gave up a turn.
func TestTerminatedRightAfterCtrlC(t *testing.T) {
	sh, _, said := shellOf(t)
	defer sh.beginTurn()()
	sh.hear(os.Interrupt)
	require.NoError(t, sh.ctx.Err())
	sh.hear(syscall.SIGTERM)
	sh.hear(syscall.SIGTERM)
	require.ErrorIs(t, context.Cause(sh.ctx), errInterrupted)
	require.Equal(t, "cancelling\n", said())
}

// Signals close to each other are one Ctrl-C, which somebody has passed on, but not over a prompt.
func TestEcho(t *testing.T) {
	sh, _, said := shellOf(t)
	sh.kill.set(func() { require.Fail(t, "killed") })
	for range 2 {
		end := sh.beginTurn()
		require.NoError(t, sh.inForeground(func() error {
			sh.hear(os.Interrupt)
			sh.hear(os.Interrupt)
			require.Error(t, sh.ctx.Err())
			return nil
		}))
		end()
	}
	require.Equal(t, cancelling+"\n"+cancelling+"\n", said())
}

// A terminal that is busy does not keep a call from being cancelled.
func TestCancelsWhileTheTerminalIsBusy(t *testing.T) {
	for _, ends := range []bool{false, true} {
		sh, press, said := shellOf(t)
		end := sh.beginTurn()
		require.NoError(t, sh.inForeground(func() error {
			sh.display.mu.Lock()
			heard := make(chan struct{})
			go func() {
				defer close(heard)
				press()
			}()
			<-sh.ctx.Done()
			if ends {
				sh.kill.ended()
			}
			sh.display.mu.Unlock()
			<-heard
			return nil
		}))
		end()
		require.Equal(t, !ends, said() == cancelling+"\n", "it is not told that something ends that has ended")
	}
}
