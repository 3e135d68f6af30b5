package host

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/keeper"
)

// What others may write into runs as a copy: what they write after it was verified does not run.
func TestWhatOthersMayWriteInto(t *testing.T) {
	tests := []struct {
		name string
		open func(path string) error
	}{
		{"by all", func(path string) error { return os.Chmod(path, 0o757) }},
		{"by a group", func(path string) error { return os.Chmod(path, 0o775) }},
		{"of another user", func(path string) error { return os.Chown(path, 12345, 12345) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := copyOf(t, "echo")
			if err := tt.open(path); os.IsPermission(err) {
				t.Skip(err)
			}
			v, err := verify(path, checksumOf(t, path), t.TempDir())
			require.NoError(t, err)
			defer v.close()
			// Into the same file, as they could.
			require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho fake\n"), 0o755))
			require.Equal(t, "genuine\n", outputOf(t, v, path))
		})
	}
	t.Run("by us", func(t *testing.T) {
		path := copyOf(t, "echo")
		v, err := verify(path, checksumOf(t, path), t.TempDir())
		require.NoError(t, err)
		defer v.close()
		info, err := os.Lstat(v.path)
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&os.ModeSymlink, "it is not copied")
		require.Equal(t, "genuine\n", outputOf(t, v, path))
	})
}

// copyOf is a program of the system in a file of ours.
func copyOf(t *testing.T, name string) string {
	t.Helper()
	found, err := exec.LookPath(name)
	require.NoError(t, err)
	content, err := os.ReadFile(found)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "provider-x")
	require.NoError(t, os.WriteFile(path, content, 0o755))
	return path
}

// outputOf runs a verified program.
func outputOf(t *testing.T, v *verified, path string) string {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "out")
	require.NoError(t, err)
	defer out.Close()
	child, err := keeper.Start(keeper.Spec{Path: v.path, Args: []string{path, "genuine"}, Stdout: out, Stderr: out, Binary: v.file})
	require.NoError(t, err)
	require.Equal(t, "exit status 0", child.Exited().String())
	child.Wait()
	_, err = out.Seek(0, io.SeekStart)
	require.NoError(t, err)
	text, err := io.ReadAll(out)
	require.NoError(t, err)
	return string(text)
}
