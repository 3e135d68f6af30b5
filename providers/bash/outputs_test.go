//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOutputsOutliveACleanUp(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	h := start(t, nil)
	r := run(t, h, `seq 20000; until ls "$TMPDIR"/provider-bash-*/output-* > /dev/null 2>&1; do sleep 0.01; done; rm -rf "$TMPDIR"/*`)
	require.Nil(t, r.Result["output_path"], "a file that is gone is not named")
	r = run(t, h, "seq 20000")
	kept, err := os.ReadFile(r.Result["output_path"].(string))
	require.NoError(t, err)
	require.Equal(t, r.Stdout, string(kept))
}

func TestOutputsAreKeptForAWhile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	left := func(name string, age time.Duration) string {
		d := filepath.Join(dir, name)
		require.NoError(t, os.Mkdir(d, 0o700))
		file := filepath.Join(d, "output-1.txt")
		require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
		require.NoError(t, os.Chtimes(d, time.Time{}, time.Now().Add(-age)))
		return file
	}
	fresh, old := left(outputsName+"fresh", time.Hour), left(outputsName+"old", 25*time.Hour)
	foreign := left("else", 99*time.Hour)
	require.NoError(t, os.Symlink(filepath.Dir(foreign), filepath.Join(dir, outputsName+"link")))
	var ended []string // from the newest to the oldest
	for i := range keptSessions + 3 {
		ended = append(ended, left(fmt.Sprint(outputsName, i), time.Duration(i+2)*time.Hour/4+time.Hour))
	}

	var living, next outputs
	f, err := living.create()
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.FileExists(t, fresh)
	require.NoFileExists(t, old)
	require.FileExists(t, ended[keptSessions-3])
	require.NoFileExists(t, ended[keptSessions+2], "too many")

	require.NoError(t, os.Chtimes(filepath.Dir(f.Name()), time.Time{}, time.Now().Add(-99*time.Hour)))
	other, err := next.create()
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.FileExists(t, f.Name(), "its provider lives")
	require.FileExists(t, foreign)
	require.NoError(t, living.release())
	require.NoError(t, next.release())
	require.FileExists(t, other.Name(), "read after the session")
	sweepOutputs()
	require.NoFileExists(t, f.Name(), "old, and its provider has ended")
	require.FileExists(t, other.Name())
}

// A provider may live for weeks.
func TestOutputsOfOneProviderAreNotTooMany(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var o outputs
	var made []string
	for range tidyEvery {
		f, err := o.create()
		require.NoError(t, err)
		require.NoError(t, f.Close())
		made = append(made, f.Name())
		if len(made) < tidyEvery {
			require.NoError(t, os.Chtimes(f.Name(), time.Time{}, time.Now().Add(time.Duration(len(made)-tidyEvery)*time.Minute)))
		}
		switch len(made) {
		case 1:
			require.NoError(t, os.Chtimes(f.Name(), time.Time{}, time.Now().Add(-keptFor-time.Hour)))
		case 2, 3, 4:
			age, err := os.Stat(f.Name())
			require.NoError(t, err)
			require.NoError(t, os.Truncate(f.Name(), keptBytes*2/5)) // of holes
			require.NoError(t, os.Chtimes(f.Name(), time.Time{}, age.ModTime()))
		}
	}
	require.NoFileExists(t, made[0], "old")
	require.NoFileExists(t, made[1], "too much")
	for _, name := range made[2:] {
		require.FileExists(t, name)
	}
	require.NoError(t, o.release())
}

func TestOutputsAreKeptWhileThereAreNotTooManyBytes(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var ended []string // from the newest to the oldest
	for i := range 4 {
		d := filepath.Join(dir, fmt.Sprint(outputsName, i))
		require.NoError(t, os.Mkdir(d, 0o700))
		file := filepath.Join(d, "output-1.txt")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		require.NoError(t, os.Truncate(file, keptBytes*2/5)) // of holes
		require.NoError(t, os.Chtimes(d, time.Time{}, time.Now().Add(-time.Duration(i+1)*time.Minute)))
		ended = append(ended, file)
	}
	sweepOutputs()
	require.FileExists(t, ended[0])
	require.FileExists(t, ended[1])
	require.NoFileExists(t, ended[2])
	require.NoFileExists(t, ended[3])

	require.NoError(t, os.Truncate(ended[0], keptBytes+1))
	sweepOutputs()
	require.FileExists(t, ended[0], "the newest is kept, however large it is")
	require.NoFileExists(t, ended[1])
}
