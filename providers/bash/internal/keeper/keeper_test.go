//go:build linux

package keeper

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/agentco/agent/proto/early"
)

const (
	// hostVariable makes the test binary a provider that can be killed.
	hostVariable = "KEEPER_TEST_HOST"
	// markVariable is in the environment of everything that a test starts.
	markVariable = "KEEPER_TEST_MARK"

	patience = time.Minute
)

func TestMain(m *testing.M) {
	if script := os.Getenv(hostVariable); script != "" {
		host(script)
	}
	goleak.VerifyTestMain(m)
}

// host runs script in a pool and waits to be killed.
func host(script string) {
	pool, err := Open(nil)
	if err == nil {
		_, err = pool.Start(specOf(script, os.Getenv(markVariable), os.Stdout))
	}
	fmt.Fprintln(os.Stderr, err)
	select {}
}

func specOf(script, mark string, out *os.File) Spec {
	null, _ := os.Open(os.DevNull)
	dir, _ := os.Open("/")
	return Spec{
		Path: "/bin/sh", Args: []string{"sh", "-c", script},
		Env: []string{"PATH=" + os.Getenv("PATH"), markVariable + "=" + mark},
		Dir: dir, Stdin: null, Stdout: out, Stderr: out,
	}
}

func open(t *testing.T) *Pool {
	t.Helper()
	pool, err := Open(nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	return pool
}

// start runs script and returns what it writes.
func start(t *testing.T, pool *Pool, script string) (*Process, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	process, err := pool.Start(specOf(script, t.Name(), w))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return process, r
}

func wait(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("waited too long: " + what)
	}
}

// marked returns the living processes that carry mark.
func marked(mark string) []int {
	var found []int
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environ, _ := os.ReadFile(file)
		if bytes.Contains(environ, []byte(markVariable+"="+mark+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			found = append(found, pid)
		}
	}
	return found
}

func requireNoneLeft(t *testing.T, mark string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(marked(mark)) == 0 }, patience, 5*time.Millisecond)
}

// runaways are the ways out of a process group that were seen in the wild. Each prints
// "up" when it runs.
var runaways = []struct{ name, script string }{
	{"plain", `(echo up; exec sleep 1000) &`},
	{"nohup", `nohup sh -c 'echo up; exec sleep 1000' &`},
	{"setsid", `setsid sh -c 'echo up; exec sleep 1000' &`},
	{"double fork", `(setsid sh -c '(echo up; exec sleep 1000) & exit' &);`},
	{"ignores TERM", `sh -c 'trap "" TERM; echo up; while :; do sleep 1000; done' &`},
	{"ignores TERM in a session of its own", `setsid sh -c 'trap "" TERM HUP INT; echo up; while :; do sleep 1000; done' &`},
	{"stopped", `sh -c 'echo up; kill -STOP $$; sleep 1000' &`},
}

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

func TestKillLeavesNothing(t *testing.T) {
	for _, c := range runaways {
		t.Run(c.name, func(t *testing.T) {
			process, out := start(t, open(t), c.script+" wait; sleep 1000")
			readLine(t, out)
			process.Kill()
			wait(t, "gone", process.Gone())
			require.Empty(t, marked(t.Name()))
			require.Equal(t, "SIGKILL", process.Status().Signal)
		})
	}
}

func TestKillAfterTheShellExited(t *testing.T) {
	for _, c := range runaways {
		t.Run(c.name, func(t *testing.T) {
			process, out := start(t, open(t), c.script)
			readLine(t, out)
			wait(t, "exit", process.Exited())
			process.Terminate()
			process.Kill()
			wait(t, "gone", process.Gone())
			require.Empty(t, marked(t.Name()))
			require.Equal(t, Status{}, process.Status())
		})
	}
}

func TestTerminateReachesEverybody(t *testing.T) {
	for _, c := range runaways {
		if strings.HasPrefix(c.name, "ignores") {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			process, out := start(t, open(t), c.script+" sleep 1000")
			readLine(t, out)
			process.Terminate()
			wait(t, "gone", process.Gone())
			require.Empty(t, marked(t.Name()))
			require.Equal(t, "SIGTERM", process.Status().Signal)
		})
	}
}

// A parent that dies of the signal hands its children on while they are being looked for.
func TestTerminateMissesNobody(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"a parent dies first", `(setsid sh -c 'echo up; exec sleep 1000' & sleep 1000) & sleep 1000`},
		{"one is being forked", `echo up; (setsid sh -c 'sleep 1000 & exit' &) ; sleep 1000`},
		{"several are", `echo up; for i in 1 2 3 4 5; do setsid sh -c 'sleep 1000 & sleep 1000' & done; sleep 1000`},
	} {
		t.Run(c.name, func(t *testing.T) {
			pool := open(t)
			for range 100 {
				process, out := start(t, pool, c.script)
				readLine(t, out)
				process.Terminate()
				wait(t, "gone without SIGKILL", process.Gone())
			}
		})
	}
}

func TestSignalReachesTheGroup(t *testing.T) {
	process, out := start(t, open(t), `trap 'echo caught' USR1; (trap 'echo child; exit' USR1; echo up; while :; do sleep 0.01; done) & wait; wait; exit 6`)
	readLine(t, out)
	process.Signal(unix.SIGUSR1)
	text, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Contains(t, string(text), "caught\n")
	require.Contains(t, string(text), "child\n")
	wait(t, "gone", process.Gone())
	require.Equal(t, Status{Code: 6}, process.Status())
}

// What is asked for too late does not hit the next command of the same keeper.
func TestLateRequestsHitNobodyElse(t *testing.T) {
	pool := open(t)
	first, _ := start(t, pool, "exit 0")
	wait(t, "gone", first.Gone())
	second, out := start(t, pool, "echo up; read x; exit 8")
	readLine(t, out)
	first.Signal(unix.SIGUSR1)
	first.Terminate()
	first.Kill()
	wait(t, "gone", second.Gone())
	require.Equal(t, Status{Code: 8}, second.Status())
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

func TestTerminateComesOnce(t *testing.T) {
	process, out := start(t, open(t), `trap 'echo term' TERM; echo up; for i in 1 2 3 4 5 6; do sleep 0.05; done; echo end`)
	readLine(t, out)
	process.Terminate()
	text, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), "term\n"))
}

func TestKillOutrunsForks(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		// Each has one child and exits, a hundred times in all.
		{"in one group", `next() { [ $1 -gt 100 ] || (next $(($1 + 1)) &) ; sleep 0.01; } ; echo up; next 0`},
		{"each in a session of its own", `echo up; export again='[ $n -gt 100 ] && exit; n=$((n + 1)); setsid sh -c "$again" & exit'; export n=0; sh -c "$again"`},
		{"a crowd", `echo up; for i in $(seq 50); do sleep 1000 & done; wait`},
	} {
		t.Run(c.name, func(t *testing.T) {
			process, out := start(t, open(t), c.script)
			readLine(t, out)
			process.Kill()
			wait(t, "gone", process.Gone())
			require.Empty(t, marked(t.Name()))
		})
	}
}

func TestCloseKills(t *testing.T) {
	pool, err := Open(nil)
	require.NoError(t, err)
	process, out := start(t, pool, runaways[5].script+" sleep 1000")
	readLine(t, out)
	require.NoError(t, pool.Close())
	wait(t, "gone", process.Gone())
	require.Empty(t, marked(t.Name()))
	_, err = pool.Start(specOf("true", "", os.Stdout))
	require.ErrorIs(t, err, ErrClosed)
}

// SO-17
func TestNothingSurvivesTheProvider(t *testing.T) {
	ways := append(slices.Clone(runaways), struct{ name, script string }{"stops its keeper", stopKeeper + "; "})
	for _, c := range ways {
		t.Run(c.name, func(t *testing.T) {
			provider := exec.Command("/proc/self/exe")
			provider.Env = append(os.Environ(), hostVariable+"="+c.script+" sleep 1000", markVariable+"="+t.Name())
			out, err := provider.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, provider.Start())
			_, err = bufio.NewReader(out).ReadString('\n')
			require.NoError(t, err)
			require.NoError(t, provider.Process.Kill())
			_ = provider.Wait()
			requireNoneLeft(t, t.Name())
		})
	}
}

func TestLostKeeper(t *testing.T) {
	for _, c := range runaways {
		t.Run(c.name, func(t *testing.T) {
			pool := open(t)
			process, out := start(t, pool, c.script+" sleep 1000")
			readLine(t, out)
			require.NoError(t, syscall.Kill(soleKeeper(t, pool), syscall.SIGKILL))
			wait(t, "gone", process.Gone())
			require.ErrorIs(t, process.Err(), ErrLost)
			require.Empty(t, marked(t.Name()))
			next, _ := start(t, pool, "exit 4")
			wait(t, "gone", next.Gone())
			require.Equal(t, 4, next.Status().Code)
		})
	}
}

// stopKeeper is a command that stops its own keeper and goes on.
const stopKeeper = `setsid sleep 1000 & kill -STOP $PPID; echo up; sleep 1000`

func TestStoppedKeeper(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*Pool, *Process) error
	}{
		{"terminate", func(_ *Pool, p *Process) error { p.Terminate(); return nil }},
		{"kill", func(_ *Pool, p *Process) error { p.Kill(); return nil }},
		{"close", func(p *Pool, _ *Process) error { return p.Close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			pool := open(t)
			process, out := start(t, pool, stopKeeper)
			readLine(t, out)
			require.NoError(t, c.end(pool, process))
			wait(t, "gone", process.Gone())
			require.Empty(t, marked(t.Name()))
		})
	}
}

func TestKeeperStoppedBeforeTheEnd(t *testing.T) {
	process, out := start(t, open(t), `echo up; kill -STOP $PPID; exit 5`)
	readLine(t, out)
	wait(t, "gone", process.Gone())
	require.Equal(t, 5, process.Status().Code)
}

func TestKeeperStoppedWhileIdle(t *testing.T) {
	pool := open(t)
	require.NoError(t, syscall.Kill(soleKeeper(t, pool), syscall.SIGSTOP))
	process, _ := start(t, pool, "exit 5")
	wait(t, "gone", process.Gone())
	require.Equal(t, 5, process.Status().Code)
}

func TestKeeperLostWhileIdle(t *testing.T) {
	pool := open(t)
	require.NoError(t, syscall.Kill(soleKeeper(t, pool), syscall.SIGKILL))
	process, _ := start(t, pool, "exit 5")
	wait(t, "gone", process.Gone())
	require.Equal(t, 5, process.Status().Code)
}

func soleKeeper(t *testing.T, pool *Pool) int {
	t.Helper()
	pool.mu.Lock()
	defer pool.mu.Unlock()
	require.Len(t, pool.all, 1)
	for pid := range pool.all {
		return pid
	}
	return 0
}

func TestCommandsDoNotShareAFate(t *testing.T) {
	pool := open(t)
	victim, out := start(t, pool, runaways[3].script+" sleep 1000")
	readLine(t, out)
	bystander, other := start(t, pool, "(setsid sh -c '(echo up; read x; echo alive) & exit' &); sleep 1000")
	readLine(t, other)
	victim.Kill()
	wait(t, "gone", victim.Gone())
	select {
	case <-bystander.Gone():
		t.Fatal("killed with the other")
	default:
	}
	bystander.Kill()
	wait(t, "gone", bystander.Gone())
}

func TestKeepersAreReused(t *testing.T) {
	pool := open(t)
	keeper := soleKeeper(t, pool)
	for range 50 {
		process, _ := start(t, pool, "true")
		wait(t, "gone", process.Gone())
	}
	require.Equal(t, keeper, soleKeeper(t, pool))
}

// SO-18
func TestNoZombies(t *testing.T) {
	pool := open(t)
	for range 20 {
		process, _ := start(t, pool, "(sleep 0.01 &); true")
		wait(t, "gone", process.Gone())
	}
	require.Empty(t, early.ChildrenNow()(soleKeeper(t, pool)))
}

func readLine(t *testing.T, f *os.File) {
	t.Helper()
	require.NoError(t, f.SetReadDeadline(time.Now().Add(patience)))
	var b [1]byte
	for b[0] != '\n' {
		_, err := f.Read(b[:])
		require.NoError(t, err)
	}
}

// A keeper costs its own memory and little of the binary it is started from.
func TestKeepersAreSmall(t *testing.T) {
	pool := open(t)
	process, _ := start(t, pool, "exit 0")
	wait(t, "gone", process.Gone())
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", soleKeeper(t, pool)))
	require.NoError(t, err)
	size := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(status)
	require.NotNil(t, size)
	kilobytes, err := strconv.Atoi(string(size[1]))
	require.NoError(t, err)
	t.Logf("%d kB", kilobytes)
	require.Less(t, kilobytes, 8<<10)
}
