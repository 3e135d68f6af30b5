//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// What only has the name of a journal is neither waited for nor followed.
func TestRecoverFromWhatIsNoJournal(t *testing.T) {
	notes, elsewhere := t.TempDir(), t.TempDir()
	precious := filepath.Join(elsewhere, "precious")
	require.NoError(t, os.WriteFile(precious, []byte("x"), 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(notes, "pipe.journal"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(notes, "dir.journal"), 0o700))
	require.NoError(t, os.Symlink(precious, filepath.Join(notes, "link.journal")))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(notes, "link.kept")))
	removed, err := Recover(notes, afero.NewOsFs())
	require.NoError(t, err)
	require.Zero(t, removed)
	require.FileExists(t, precious)
	require.Len(t, names(t, afero.NewOsFs(), notes), 4)
}
