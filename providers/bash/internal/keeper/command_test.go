//go:build linux

package keeper

import (
	"bufio"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestStatus(t *testing.T) {
	pool := open(t)
	for _, c := range []struct {
		name, script string
		want         Status
	}{
		{"success", "exit 0", Status{}},
		{"failure", "exit 3", Status{Code: 3}},
		{"terminated", "kill -TERM $$", Status{Code: 143, Signal: "SIGTERM"}},
		{"killed", "kill -KILL $$", Status{Code: 137, Signal: "SIGKILL"}}, // SO-13
		{"real-time signal", "kill -40 $$", Status{Code: 168, Signal: "signal 40"}},
		{"a child was killed", "sh -c 'kill -KILL $$'; exit $?", Status{Code: 137}},
	} {
		t.Run(c.name, func(t *testing.T) {
			process, _ := start(t, pool, c.script)
			wait(t, "exit", process.Exited())
			wait(t, "gone", process.Gone())
			require.Equal(t, c.want, process.Status())
			require.NoError(t, process.Err())
		})
	}
}

func TestStartRefused(t *testing.T) {
	pool := open(t)
	spec := specOf("", "", os.Stdout)
	spec.Path = "/nonexistent/shell"
	_, err := pool.Start(spec)
	var refused *StartError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, &StartError{Path: "/nonexistent/shell", Err: syscall.ENOENT}, refused)
	process, _ := start(t, pool, "exit 7")
	wait(t, "gone", process.Gone())
	require.Equal(t, 7, process.Status().Code)
}

func TestCommandGetsWhatItWasGivenAndNothingElse(t *testing.T) {
	pool := open(t)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = r.Close() }()
	dir, err := os.Open(t.TempDir())
	require.NoError(t, err)
	spec := specOf(`pwd -P; printf '%s|' "$0" "$1" "$2"; echo; env; ls /proc/self/fd`, "x\xff\ny", w)
	spec.Args = append(spec.Args, "zero", "", "t\xffwo")
	spec.Dir = dir
	process, err := pool.Start(spec)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	out, err := io.ReadAll(r)
	require.NoError(t, err)
	wait(t, "gone", process.Gone())
	real, err := filepath.EvalSymlinks(dir.Name())
	require.NoError(t, err)
	lines := strings.Split(string(out), "\n")
	require.Equal(t, real, lines[0])
	require.Equal(t, "zero||t\xffwo|", lines[1])
	require.Contains(t, string(out), "KEEPER_TEST_MARK=x\xff\ny\n")
	require.NotContains(t, string(out), "HOME=")
	// ls itself holds 3, the directory that it lists.
	require.True(t, strings.HasSuffix(string(out), "\n0\n1\n2\n3\n"), "descriptors: %q", out)
}

// SO-36
func TestSignalsAreAtTheirDefaults(t *testing.T) {
	ignored := []os.Signal{syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGCHLD, syscall.SIGCONT}
	signal.Ignore(ignored...)
	defer signal.Reset(ignored...)
	// A keeper inherits the mask of the thread that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before unix.Sigset_t
	blocked := unix.Sigset_t{Val: [16]uint64{1<<(unix.SIGTERM-1) | 1<<(unix.SIGPIPE-1)}}
	require.NoError(t, unix.PthreadSigmask(unix.SIG_BLOCK, &blocked, &before))
	defer func() { require.NoError(t, unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)) }()
	pool := open(t)
	_, out := start(t, pool, "exec grep -E 'SigIgn|SigBlk' /proc/self/status")
	text, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Equal(t, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n", ownSignals(string(text)))
}

// ownSignals hides signals 32 and 33 in what /proc says of a process: the C library keeps them for itself, no shell can
// use them, and some programs, make among them, start their children with these ignored.
func ownSignals(status string) string {
	return regexp.MustCompile(`(?m)^SigIgn:\t0000000[01][08]0000000$`).ReplaceAllString(status, "SigIgn:\t0000000000000000")
}

func TestSessionWithATerminal(t *testing.T) {
	pool := open(t)
	master, slave, err := pty.Open()
	require.NoError(t, err)
	defer func() { _ = master.Close() }()
	spec := specOf("ps -o pid=,sid=,pgid=,tpgid= -p $$ | tr -s ' ' '\n' | sort -u | grep -c .; read x < /dev/tty; exit 9", t.Name(), slave)
	spec.Session = true
	process, err := pool.Start(spec)
	require.NoError(t, err)
	require.NoError(t, slave.Close())
	line, err := bufio.NewReader(master).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "1\r\n", line, "leads session, group and foreground")
	_, err = master.WriteString("x\n")
	require.NoError(t, err)
	wait(t, "gone", process.Gone())
	require.Equal(t, Status{Code: 9}, process.Status())
}
