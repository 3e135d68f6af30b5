//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/providers/bash/internal/readonly"
	"github.com/agentco/agent/providers/bash/internal/workdir"
)

// What makes a harmless command run another is dropped, and what scripts need is there
// once: of two values a shell takes the last.
func TestReadingEnvironment(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "bin"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(root, "bin"), filepath.Join(t.TempDir(), "link")))
	roots, err := workdir.NewRoots("/", []string{root})
	require.NoError(t, err)
	kept := (&reading{roots: roots}).environment([]string{
		"PATH=/usr/bin:bin::" + root + "/bin:/bin:/home/x/.asdf/shims:/x/shims/", "HOME=-x", "LANG=C", "PYTHONSTARTUP=x", "BASH_FUNC_ls%%=() { x; }", "LD_PRELOAD=x.so", "ENV=x",
		"GIT_DIR=x", "GOTOOLCHAIN=path", "GREP_OPTIONS=x", "TAPE=host:x", "MAGIC=x", "OPENSSL_CONF=x", "GZIP=x", "FPATH=x", "CC=./x", "CCACHE=y",
	})
	want := []string{"CCACHE=y", "LANG=C", "PATH=/usr/bin:/bin"}
	for name, value := range readonly.Environment {
		want = append(want, name+"="+value)
	}
	require.ElementsMatch(t, want, kept)
}

// Without a home, $HOME is not nothing: what is written after it would be an option.
func TestShellReadWithoutHome(t *testing.T) {
	h := start(t, fields{"env": fields{"HOME": ""}})
	r := h.Call(t.Context(), "shell_read", fields{"command": `echo "$HOME"-delete; cd / && echo "$PWD"-x`})
	require.Nil(t, r.Err, "%v", r.Err)
	require.Equal(t, "/-delete\n/-x\n", r.Stdout)
}

// Numbers of a Korn shell are expressions, and expressions run commands.
func TestShellReadUnderstandsShells(t *testing.T) {
	dir := t.TempDir()
	for name, target := range map[string]string{"sh": "dash", "bash": "bash", "ash": "busybox", "ksh": "ksh", "posix/sh": "mksh", "zsh": "zsh"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		if target != filepath.Base(name) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, target), nil, 0o700))
			require.NoError(t, os.Symlink(filepath.Join(dir, target), path))
		}
		require.Equal(t, target == "dash" || target == "bash" || target == "busybox", (&reading{}).understood(path), name)
	}
}

// Temporary files that may be anywhere would be no limit at all.
func TestTemporaryFilesEverywhere(t *testing.T) {
	needsLandlock(t)
	outside := filepath.Join(t.TempDir(), "x")
	for _, everywhere := range []string{"/", "/../.", "/proc/self/root"} {
		h := start(t, fields{"sandbox": "landlock", "env": fields{"TMPDIR": everywhere}, "read_commands": []any{"touch"}})
		run(t, h, "touch "+outside+"; touch here")
		require.NoFileExists(t, outside, everywhere)
		require.FileExists(t, filepath.Join(h.Dir, "here"))
		require.Nil(t, h.Call(t.Context(), "shell_read", fields{"command": "touch " + outside}).Err)
		require.NoFileExists(t, outside, everywhere)
	}
}

// A sandbox that was there when the provider started, and is not any more, is what the
// error speaks of.
func TestShellReadLosesItsSandbox(t *testing.T) {
	needsLandlock(t)
	if os.Getenv(noLandlock) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestShellReadLosesItsSandbox$", "-test.v", "-provider="+*binaryPath)
		cmd.Env = append(os.Environ(), noLandlock+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS")
		return
	}
	h := startInside(t, nil)
	takeLandlockAway(t)
	r := h.Call(t.Context(), "shell_read", fields{"command": "echo x"})
	require.NotNil(t, r.Err)
	require.Contains(t, r.Err.GetMessage(), "this system has no Landlock")
	require.Contains(t, r.Err.GetMessage(), "no command was run")
	require.Equal(t, "x\n", run(t, h, "echo x").Stdout, "bash does without it")
}
