//go:build unix

package session

import (
	"bufio"
	"errors"
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

// What is called like a tail and is no file has nothing of a session, and is not opened, nor copied: it may have no end.
func TestOnlyFilesAreTails(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"pipe": func(path string) error { return unix.Mkfifo(path, 0o600) },
		"folder": func(path string) error {
			return errors.Join(os.Mkdir(path, 0o700), os.Mkdir(filepath.Join(path, "x"), 0o700))
		},
		"link": func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		t.Run(name, func(t *testing.T) {
			path := killed(t, 1)
			require.NoError(t, os.Remove(tailOf(path)))
			require.NoError(t, put(tailOf(path)))
			info, err := os.Stat(path + "-wal")
			require.NoError(t, err)
			require.Positive(t, info.Size(), "a copy has to have it")
			copied, err := read(t.Context(), path)
			require.NoError(t, err)
			require.NoError(t, copied.takeInCopy(t.Context()))
			events := eventsOf(t, copied)
			require.LessOrEqual(t, len(events), 1, "the first may have been in the database")
			copied.Close()
			f := reading(t, path)
			require.Nil(t, f.Salvage)
			require.Len(t, eventsOf(t, f), len(events))
			f.Close()
		})
	}
}

// A log that cannot be begun leaves neither open files, however often that is tried, nor what would be taken for a damaged one.
func TestFailedBeginning(t *testing.T) {
	path := filepath.Join(t.TempDir(), ulid.Make().String()+extension)
	require.NoError(t, os.Mkdir(tailOf(path), 0o700))
	l, err := NewLog(filepath.Dir(path), Meta{ID: pathID(path)}, func(w string) { t.Error(w) })
	require.NoError(t, err)
	before := openFiles(t)
	for range 20 {
		l.turn <- struct{}{}
		require.Error(t, l.writer.tryOpen(t.Context()))
		<-l.turn
	}
	require.LessOrEqual(t, openFiles(t), before+1, "but for what the runtime watches files with")
	rest, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, rest, 1)
	require.NoError(t, os.Remove(tailOf(path)))
	_, err = l.Append(toolCall("a")).Wait(t.Context())
	require.NoError(t, err)
	require.NoError(t, l.Close(Completed))
}

// openFiles is how many this process has open.
func openFiles(t *testing.T) (n int) {
	t.Helper()
	all, err := os.ReadDir("/dev/fd")
	require.NoError(t, err)
	return len(all)
}
