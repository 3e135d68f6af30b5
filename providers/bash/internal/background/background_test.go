//go:build linux

package background

import (
	"errors"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/agentco/agent/providers/bash/internal/keeper"
	"github.com/agentco/agent/providers/bash/internal/runner"
	"github.com/agentco/agent/providers/bash/internal/terminal"
	"github.com/agentco/agent/providers/bash/internal/transcript"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a set with what it takes to start processes.
type bench struct {
	Set
	t    *testing.T
	pool *keeper.Pool
}

func newBench(t *testing.T) *bench {
	t.Helper()
	pool, err := keeper.Open(nil)
	require.NoError(t, err)
	b := &bench{t: t, pool: pool}
	t.Cleanup(func() {
		b.Close()
		require.NoError(t, pool.Close())
	})
	return b
}

func (b *bench) start(session, script string, limit int) (*Process, error) {
	b.t.Helper()
	dir, err := os.Open("/")
	require.NoError(b.t, err)
	defer func() { _ = dir.Close() }()
	output := transcript.New(1000, func() (*os.File, error) { return os.CreateTemp(b.t.TempDir(), "out") })
	command := runner.Command{
		Spec:     keeper.Spec{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: dir},
		Terminal: &terminal.Size{Columns: 80, Rows: 24}, Typed: true, Grace: 200 * time.Millisecond,
	}
	return b.Start(About{Session: session, Command: script}, limit, output, func() (*runner.Execution, error) {
		return runner.Start(b.pool, command, func(s runner.Stream, p []byte) { output.Write(int(s), p) })
	})
}

// keep starts a process that can be found.
func (b *bench) keep(session, script string) *Process {
	b.t.Helper()
	p, err := b.start(session, script, 10)
	require.NoError(b.t, err)
	b.Keep(p)
	return p
}

func TestSessionsDoNotSeeEachOther(t *testing.T) {
	b := newBench(t)
	mine, other := b.keep("one", "sleep 1000"), b.keep("two", "sleep 1000")
	require.NotEqual(t, mine.ID, other.ID)
	require.Equal(t, []*Process{mine}, b.List("one"))
	require.Same(t, mine, b.Find("one", mine.ID))
	require.Nil(t, b.Find("one", other.ID))
	require.Empty(t, b.List("three"))
	_, err := b.start("one", "true", 1)
	require.ErrorIs(t, err, ErrFull)
	_, err = b.start("three", "true", 1)
	require.NoError(t, err, "each has its own limit")
}

func TestProcessThatIsNotKeptIsNotFound(t *testing.T) {
	b := newBench(t)
	p, err := b.start("one", "sleep 1000", 1)
	require.NoError(t, err)
	require.Empty(t, b.List("one"))
	_, err = b.start("one", "true", 1)
	require.ErrorIs(t, err, ErrFull, "but it counts")
	p.Stop()
	<-p.Done()
	_, err = b.start("one", "true", 1)
	require.NoError(t, err)
}

func TestStartThatFails(t *testing.T) {
	b := newBench(t)
	refused := errors.New("refused")
	for range 3 {
		_, err := b.Start(About{}, 1, nil, func() (*runner.Execution, error) { return nil, refused })
		require.ErrorIs(t, err, refused, "the place is free again")
	}
}

func TestEndedOnesAreForgottenTheOldestFirst(t *testing.T) {
	b := newBench(t)
	lives, elsewhere := b.keep("one", "sleep 1000"), b.keep("two", "exit")
	<-elsewhere.Done()
	var ended []*Process
	for range maxEnded + 3 {
		p := b.keep("one", "echo over")
		<-p.Done()
		ended = append(ended, p)
	}
	b.keep("one", "sleep 1000")
	require.Same(t, lives, b.Find("one", lives.ID))
	require.Nil(t, b.Find("one", ended[2].ID))
	require.Same(t, ended[3], b.Find("one", ended[3].ID))
	require.Equal(t, "over\n", ended[3].Output().Read(0).Text)
	require.Same(t, elsewhere, b.Find("two", elsewhere.ID))
}

func TestEndedOnesOfManySessions(t *testing.T) {
	b := newBench(t)
	var ended []*Process
	for i := range maxEndedInAll + 2 {
		p := b.keep(strconv.Itoa(i), "exit")
		<-p.Done()
		ended = append(ended, p)
	}
	lives := b.keep("another", "sleep 1000")
	require.Nil(t, b.Find("1", ended[1].ID))
	require.Same(t, ended[2], b.Find("2", ended[2].ID))
	require.Same(t, lives, b.Find("another", lives.ID))
}

func TestLateSignalIsNoReason(t *testing.T) {
	b := newBench(t)
	p := b.keep("one", "kill -KILL $$")
	<-p.Done()
	p.Signal(unix.SIGUSR1)
	require.Equal(t, Killed, p.State())
	require.Positive(t, p.Duration())
}

func TestClose(t *testing.T) {
	b := newBench(t)
	willing, stubborn := b.keep("one", "sleep 1000"), b.keep("two", "trap '' TERM; echo up; sleep 1000; sleep 1000")
	stubborn.Output().Await(t.Context(), 0)
	b.Close()
	require.Equal(t, Stopped, willing.State())
	require.Equal(t, Stopped, stubborn.State())
	_, err := b.start("one", "true", 10)
	require.ErrorIs(t, err, ErrClosed)
	b.Close()
}
