package catalogue

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// aged makes a file that was last changed long enough ago; ctime cannot be set, so it is waited for.
func aged(t *testing.T, c *Catalogue, path string) Binary {
	t.Helper()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("nothing is remembered of a file here")
	}
	var b Binary
	require.Eventually(t, func() bool {
		var err error
		b, err = c.Identify(path)
		require.NoError(t, err)
		_, known := c.recall(b.identity)
		return known
	}, settled+time.Minute, 20*time.Millisecond)
	return b
}

func TestIdentify(t *testing.T) {
	const of = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // hello
	path := filepath.Join(t.TempDir(), "provider")
	c := In(t.TempDir())
	began := time.Now()
	require.NoError(t, os.WriteFile(path, []byte("hello"), 0o700))
	b, err := c.Identify(path)
	require.NoError(t, err)
	require.Equal(t, of, b.Checksum)
	if _, known := c.recall(b.identity); known {
		require.Greater(t, time.Since(began), settled, "it may still be changed within the same moment")
	}

	b = aged(t, c, path)
	require.Equal(t, of, b.Checksum)
	require.True(t, b.Unchanged())

	// The same size and the same time of modification: only ctime tells.
	times := time.Unix(0, b.identity.Mtime)
	require.NoError(t, os.WriteFile(path, []byte("HELLO"), 0o700))
	require.NoError(t, os.Chtimes(path, times, times))
	require.False(t, b.Unchanged())
	changed, err := c.Identify(path)
	require.NoError(t, err)
	require.NotEqual(t, of, changed.Checksum)

	// Another file in its place.
	other := filepath.Join(filepath.Dir(path), "other")
	require.NoError(t, os.WriteFile(other, []byte("hello"), 0o700))
	require.NoError(t, os.Chtimes(other, times, times))
	require.NoError(t, os.Rename(other, path))
	require.False(t, b.Unchanged())
	again, err := c.Identify(path)
	require.NoError(t, err)
	require.Equal(t, of, again.Checksum)
	require.NoError(t, os.Remove(path))
	require.False(t, again.Unchanged())
}

// A wrong checksum in the catalogue would give a provider the operations of another.
func TestIdentifyTrustsNoBrokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "provider")
	require.NoError(t, os.WriteFile(path, []byte("hello"), 0o700))
	c := In(t.TempDir())
	b := aged(t, c, path)
	content, err := os.ReadFile(c.fileOf(path))
	require.NoError(t, err)
	content[len(content)-4] ^= 1
	require.NoError(t, os.WriteFile(c.fileOf(path), content, 0o600))
	_, known := c.recall(b.identity)
	require.False(t, known)
	again, err := c.Identify(path)
	require.NoError(t, err)
	require.Equal(t, b, again)
}

func TestIdentifyWhatIsNoFile(t *testing.T) {
	c := In(t.TempDir())
	for _, path := range []string{t.TempDir(), os.DevNull, filepath.Join(t.TempDir(), "none")} {
		_, err := c.Identify(path)
		require.Error(t, err)
	}
}
