//go:build linux

package keeper

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

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
