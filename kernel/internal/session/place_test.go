package session

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
)

// K31: on a network file system there is a rollback journal, and one warning.
func TestNetworkFileSystem(t *testing.T) {
	real := networkKind
	networkKind = func(string) (string, error) { return "nfs", nil }
	t.Cleanup(func() { networkKind = real })
	var mu sync.Mutex
	var warnings []string
	l, err := NewLog(t.TempDir(), Meta{ID: ulid.Make().String()}, func(w string) {
		mu.Lock()
		defer mu.Unlock()
		warnings = append(warnings, w)
	})
	require.NoError(t, err)
	for range 3 {
		_, err = l.Append(toolCall("a")).Wait(context.Background())
		require.NoError(t, err)
	}
	require.NoFileExists(t, l.Path()+"-wal")
	require.NoFileExists(t, l.Path()+"-shm")
	f := reading(t, l.Path())
	modes, err := texts(t.Context(), f.db, "PRAGMA journal_mode")
	require.NoError(t, err)
	require.Equal(t, []string{"delete"}, modes)
	require.NoError(t, l.Close(Completed))
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "nfs")
	require.Contains(t, warnings[0], "XDG_STATE_HOME")
}

// K31: what statfs says of the folders of this machine is taken as it is.
func TestLocalFileSystem(t *testing.T) {
	_, err := networkKind(t.TempDir())
	require.NoError(t, err)
	_, err = networkKind(filepath.Join(t.TempDir(), "missing"))
	if runtime.GOOS != "windows" {
		require.Error(t, err)
	}
}

// K32: a folder that cannot be written is an error that names the file, and the log works as soon as it can be.
func TestNoFolder(t *testing.T) {
	state := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(state, "sessions"), nil, 0o600)) // a file stands in the way, for root too
	l, err := NewLog(filepath.Join(state, "sessions"), Meta{ID: ulid.Make().String()}, nil)
	require.NoError(t, err)
	_, err = l.Append(toolCall("a")).Wait(context.Background())
	require.ErrorContains(t, err, l.Path())
	require.NoError(t, os.Remove(filepath.Join(state, "sessions")))
	require.Eventually(t, func() bool {
		_, err := l.Append(toolCall("a")).Wait(context.Background())
		return err == nil
	}, time.Minute, 50*time.Millisecond)
	require.NoError(t, l.Close(Completed))
}

// A path may hold what means something in a URI.
func TestOddPath(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a b#c%20d?e&f=é")
	if runtime.GOOS == "windows" {
		folder = strings.ReplaceAll(folder, "?", "")
	}
	l, err := NewLog(folder, Meta{ID: ulid.Make().String()}, nil)
	require.NoError(t, err)
	_, err = l.Append(toolCall("a")).Wait(context.Background())
	require.NoError(t, err)
	require.NoError(t, l.Close(Completed))
	require.FileExists(t, filepath.Join(folder, pathID(l.Path())+extension))
	require.Len(t, eventsOf(t, reading(t, l.Path())), 1)
}

// A session is read from where nothing can be written, too.
func TestReadOnlyPlace(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root can write everywhere: TestReadOnlyMount of the linux tests is for it")
	}
	path := written(t, 3)
	require.NoError(t, os.Chmod(path, 0o400))
	require.NoError(t, os.Chmod(filepath.Dir(path), 0o500))
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o700) })
	require.Len(t, eventsOf(t, reading(t, path)), 9)
}
