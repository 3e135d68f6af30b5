package host

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSweepRemovesOnlyWhatWasAbandoned(t *testing.T) {
	base := t.TempDir()
	made := func(name string) string {
		path := filepath.Join(base, name)
		require.NoError(t, os.MkdirAll(filepath.Join(path, "plugin-dir1"), 0o700))
		old := time.Now().Add(-time.Hour)
		require.NoError(t, os.Chtimes(path, old, old))
		return path
	}
	abandoned, used, foreign, fresh := made(socketPrefix+"1"), made(socketPrefix+"2"), made("agent-1"), made(socketPrefix+"3")
	lock, err := lockFolder(used)
	require.NoError(t, err)
	defer func() { _ = lock.Close() }()
	require.NoError(t, os.Chtimes(fresh, time.Now(), time.Now()))
	link := filepath.Join(base, socketPrefix+"4")
	require.NoError(t, os.Symlink(foreign, link))

	sweepSockets(base, time.Now().Add(-time.Minute))

	require.NoDirExists(t, abandoned)
	require.DirExists(t, used)
	require.DirExists(t, foreign)
	require.DirExists(t, fresh)
	_, err = os.Lstat(link)
	require.NoError(t, err)
	folder, err := newSocketFolderIn(base)
	require.NoError(t, err)
	_, err = lockFolder(folder.path)
	require.Error(t, err, "it is locked from its beginning")
	folder.remove()
	require.NoDirExists(t, folder.path)
}
