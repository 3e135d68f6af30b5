//go:build linux

package keeper

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

const (
	// hostVariable makes the test binary a provider that can be killed.
	hostVariable = "KEEPER_TEST_HOST"
	// tracerVariable makes it a debugger that holds the process of that id.
	tracerVariable = "KEEPER_TEST_TRACER"
	// markVariable is in the environment of everything that a test starts.
	markVariable = "KEEPER_TEST_MARK"

	patience = time.Minute
)

func TestMain(m *testing.M) {
	if script := os.Getenv(hostVariable); script != "" {
		host(script)
	}
	if pid := os.Getenv(tracerVariable); pid != "" {
		hold(pid)
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

// hold stops a process as debuggers do, says so, and waits to be killed.
func hold(pid string) {
	runtime.LockOSThread()
	n, err := strconv.Atoi(pid)
	if err == nil {
		err = unix.PtraceSeize(n)
	}
	if err == nil {
		err = unix.PtraceInterrupt(n)
	}
	if err != nil {
		fmt.Println(err)
	} else {
		fmt.Println("up")
	}
	time.Sleep(time.Hour)
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

func readLine(t *testing.T, f *os.File) string {
	t.Helper()
	require.NoError(t, f.SetReadDeadline(time.Now().Add(patience)))
	var line []byte
	for b := [1]byte{}; b[0] != '\n'; line = append(line, b[0]) {
		_, err := f.Read(b[:])
		require.NoError(t, err)
	}
	return string(line)
}
