//go:build linux

package runner

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/providers/bash/internal/terminal"
)

func TestLinesThatAreTyped(t *testing.T) {
	for _, c := range []struct {
		name          string
		begun         int
		text          string
		longest, rest int
	}{
		{"nothing", 0, "", 0, 0},
		{"a line", 0, "abc\n", 4, 0},
		{"a line in two pieces", 3, "abc\n", 7, 0},
		{"the beginning of a line", 3, "abc", 6, 6},
		{"lines", 1, "a\nabcd\nab", 5, 2},
		{"Enter and Ctrl-D end one too", 0, "abc\rab\x04a", 4, 1},
		{"Ctrl-C and Ctrl-U take it back", 0, "abc\x03ab\x15", 4, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.longest, longest(c.begun, []byte(c.text)))
			require.Equal(t, c.rest, rest(c.begun, []byte(c.text)))
		})
	}
}

// typed starts a script that is typed at and returns what it prints, line by line.
func typed(t *testing.T, script string) (*Execution, <-chan string) {
	t.Helper()
	cmd := command(t, script)
	cmd.Typed, cmd.Spec.Stdin = true, nil
	out := make(chan string, 100)
	e, err := Start(open(t), cmd, func(s Stream, p []byte) {
		for line := range strings.Lines(string(p)) {
			out <- line
		}
	})
	require.NoError(t, err)
	return e, out
}

func TestType(t *testing.T) {
	e, out := typed(t, "echo up; read x; echo got $x; exec <&- >&- 2>&-; sleep 0.1; echo back > /dev/tty; sleep 1000")
	require.Equal(t, "up\n", <-out)
	n, err := e.Type([]byte(strings.Repeat("x", terminal.MaxLine) + "\n"))
	require.ErrorIs(t, err, ErrLine)
	require.Zero(t, n)
	n, err = e.Type([]byte("hello\n"))
	require.NoError(t, err)
	require.Equal(t, 6, n)
	require.Equal(t, "got hello\n", <-out)
	require.Equal(t, "back\n", <-out, "it had let go of its terminal, and was not hung up")
	e.Signal(9)
	o, err := e.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, "SIGKILL", o.Status.Signal)
	_, err = e.Type([]byte("x"))
	require.ErrorIs(t, err, ErrOver)
}

// The longest line that is let through arrives whole.
func TestLongestLine(t *testing.T) {
	e, out := typed(t, "echo up; read x; echo ${#x}")
	require.Equal(t, "up\n", <-out)
	_, err := e.Type([]byte(strings.Repeat("x", terminal.MaxLine-1) + "\n"))
	require.NoError(t, err)
	require.Equal(t, "4094\n", <-out)
	_, err = e.Wait(t.Context())
	require.NoError(t, err)
}

func TestTypeAtSomebodyWhoDoesNotRead(t *testing.T) {
	e, out := typed(t, "stty -icanon; echo up; sleep 1000")
	require.Equal(t, "up\n", <-out)
	n, err := e.Type([]byte(strings.Repeat("x", 1<<20)))
	require.ErrorIs(t, err, ErrUnread)
	require.Less(t, n, 1<<20)
	require.NotZero(t, n)
	e.Signal(9)
	_, err = e.Wait(t.Context())
	require.NoError(t, err)
}

func TestTypeWithoutATerminal(t *testing.T) {
	e, err := Start(open(t), command(t, "exit"), func(Stream, []byte) {})
	require.NoError(t, err)
	_, err = e.Type([]byte("x"))
	require.ErrorIs(t, err, ErrNoInput)
	_, err = e.Wait(t.Context())
	require.NoError(t, err)
}
