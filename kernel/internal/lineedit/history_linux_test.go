package lineedit

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A pipe where a file should be holds up nobody.
func TestHistoryThatIsAPipe(t *testing.T) {
	for name, pipe := range map[string]string{"the file": "history", "its lock": "history.lock"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "history")
			before, err := OpenHistory(file)
			require.NoError(t, err)
			_ = unix.Unlink(filepath.Join(filepath.Dir(file), pipe)) // the file is not there yet, its lock is
			require.NoError(t, unix.Mkfifo(filepath.Join(filepath.Dir(file), pipe), 0o600))
			_, err = OpenHistory(file)
			require.ErrorContains(t, err, "it is no regular file")
			require.ErrorContains(t, before.Add("x"), "it is no regular file")
		})
	}
}
