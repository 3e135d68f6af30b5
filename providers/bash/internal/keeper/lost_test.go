//go:build linux

package keeper

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

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

// What a debugger holds hears nothing, and goes on with no SIGCONT.
func TestTracedKeeper(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		end  func(*Pool, *Process) error
	}{
		{"kill", func(_ *Pool, p *Process) error { p.Kill(); return nil }},
		{"close", func(p *Pool, _ *Process) error { return p.Close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			pool := open(t)
			process, out := start(t, pool, `setsid sleep 1000 & `+tracerVariable+`=$PPID exec '`+self+`'`)
			if said := readLine(t, out); said != "up\n" {
				t.Skip("no process may be traced here: ", said)
			}
			require.NoError(t, c.end(pool, process))
			wait(t, "gone", process.Gone())
			require.ErrorIs(t, process.Err(), ErrLost)
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
