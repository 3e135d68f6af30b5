//go:build unix

package session

import (
	"bufio"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A writer that is stopped takes nothing in, and what it has reported is read nevertheless.
func TestStoppedWriter(t *testing.T) {
	folder, id := filepath.Join(t.TempDir(), "sessions"), ulid.Make().String()
	cmd := process(t, folder, id, 0)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for range 5 {
		var said []string
		for range 50 {
			require.True(t, lines.Scan())
			said = append(said, lines.Text())
		}
		require.NoError(t, cmd.Process.Signal(unix.SIGSTOP))
		f := reading(t, filepath.Join(folder, id+extension))
		require.Equal(t, Running, f.Meta().Status)
		there := sequences(t, f)
		for _, line := range said {
			require.True(t, there[line], line)
		}
		f.Close()
		require.NoError(t, cmd.Process.Signal(unix.SIGCONT))
	}
	require.NoError(t, cmd.Process.Kill())
	for lines.Scan() {
	}
	require.Error(t, cmd.Wait())
	v, err := Verify(t.Context(), filepath.Join(folder, id+extension))
	require.NoError(t, err)
	require.Empty(t, v.Problems)
}

// What is called like a session and is no file is none: to open a pipe would wait for somebody to write to it.
func TestOnlyFilesAreSessions(t *testing.T) {
	folder := Folder(t.TempDir())
	ids := sessions(t, folder, time.Hour)
	elsewhere := Folder(t.TempDir())
	linked := sessions(t, elsewhere, 2*time.Hour)
	require.NoError(t, os.Symlink(elsewhere.Path(linked[0]), folder.Path(linked[0])))
	odd := func() string { return folder.Path(ulid.Make().String()) }
	require.NoError(t, unix.Mkfifo(odd(), 0o600))
	require.NoError(t, os.Mkdir(odd(), 0o700))
	require.NoError(t, os.Symlink(os.DevNull, odd()))
	require.NoError(t, os.Symlink(filepath.Join(string(folder), "nowhere"), odd()))
	require.NoError(t, unix.Mkfifo(lockOf(folder.Path(ids[0])), 0o600))

	all, err := folder.List(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, []string{ids[0], linked[0]}, []string{all[0].ID, all[1].ID})
	for _, s := range all {
		require.NoError(t, s.Err)
		require.Equal(t, Completed, s.Status)
	}
}
