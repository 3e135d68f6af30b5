package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/sdk/sdktest"
)

// newProcess is newWorld with the provider in a process of its own, as a kernel
// runs it. The journal is in base/cache.
func newProcess(t *testing.T, more args) (world, *exec.Cmd) {
	t.Helper()
	return emptyWorld(t).process(more)
}

// emptyWorld is a root without a provider.
func emptyWorld(t *testing.T) world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := world{t: t, base: base, root: filepath.Join(base, "root")}
	require.NoError(t, os.Mkdir(w.root, 0o755))
	return w
}

// process starts the provider in a world that is there.
func (w world) process(more args) (world, *exec.Cmd) {
	w.t.Helper()
	self, err := os.Executable()
	require.NoError(w.t, err)
	return w.start(exec.Command(self), more)
}

// mortal starts the provider below a shell, so that its end by the signal of kill
// is in order.
func (w world) mortal(more args) (_ world, kill func()) {
	w.t.Helper()
	self, err := os.Executable()
	require.NoError(w.t, err)
	note := filepath.Join(w.base, "pid")
	w, _ = w.start(exec.Command("sh", "-c", `sh -c 'echo $$ >"$1"; exec "$0"' "$0" "$1"; exit 0`, self, note), more)
	return w, func() {
		w.t.Helper()
		pid, err := strconv.Atoi(strings.TrimSpace(w.bytes("pid")))
		require.NoError(w.t, err)
		require.NoError(w.t, syscall.Kill(pid, syscall.SIGKILL))
	}
}

func (w world) start(cmd *exec.Cmd, more args) (world, *exec.Cmd) {
	w.t.Helper()
	cmd.Env = append(os.Environ(), beProvider+"=yes", "XDG_CACHE_HOME="+w.base+"/cache")
	config := args{"allowed_roots": []any{w.root}}
	for key, value := range more {
		config[key] = value
	}
	w.Harness = sdktest.StartProcess(w.t, cmd, config)
	w.Dir = w.root
	return w, cmd
}
