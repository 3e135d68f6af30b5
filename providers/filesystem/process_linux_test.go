package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/sdk/sdktest"
)

// newProcess is newWorld with the provider in a process of its own, as a kernel
// runs it. The journal is in base/cache.
func newProcess(t *testing.T, more args) (w world, cmd *exec.Cmd) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w = world{t: t, base: base, root: filepath.Join(base, "root")}
	require.NoError(t, os.Mkdir(w.root, 0o755))
	return w.process(more)
}

// process starts the provider in a world that is there.
func (w world) process(more args) (world, *exec.Cmd) {
	w.t.Helper()
	self, err := os.Executable()
	require.NoError(w.t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), beProvider+"=yes", "XDG_CACHE_HOME="+w.base+"/cache")
	config := args{"allowed_roots": []any{w.root}}
	for key, value := range more {
		config[key] = value
	}
	w.Harness = sdktest.StartProcess(w.t, cmd, config)
	w.Dir = w.root
	return w, cmd
}
