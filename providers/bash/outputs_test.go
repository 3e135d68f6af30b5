//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOutputsOutliveACleanUp(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	h := start(t, nil)
	require.NotContains(t, run(t, h, `seq 20000; rm -rf "$TMPDIR"/*`).Result, "output_path", "a file that is gone is not named")
	r := run(t, h, "seq 20000")
	kept, err := os.ReadFile(r.Result["output_path"].(string))
	require.NoError(t, err)
	require.Equal(t, r.Stdout, string(kept))
}

func TestOutputsOfKilledProvidersAreSwept(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	dead, linked, foreign := filepath.Join(dir, outputsName+"dead"), filepath.Join(dir, outputsName+"link"), filepath.Join(dir, "else")
	for _, d := range []string{dead, foreign} {
		require.NoError(t, os.Mkdir(d, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(d, "output-1.txt"), []byte("x"), 0o600))
	}
	require.NoError(t, os.Symlink(foreign, linked))
	var living, next outputs
	f, err := living.create()
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoDirExists(t, dead)
	other, err := next.create()
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.FileExists(t, f.Name(), "its provider lives")
	require.FileExists(t, filepath.Join(foreign, "output-1.txt"))
	require.NoError(t, living.remove())
	require.NoError(t, next.remove())
	require.NoFileExists(t, f.Name())
}
