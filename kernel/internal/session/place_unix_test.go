//go:build unix

package session

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

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
