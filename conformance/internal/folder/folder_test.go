package folder

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestChanges(t *testing.T) {
	tests := []struct {
		name   string
		change func(dir string) error
		want   []string
	}{
		{"nothing", func(string) error { return nil }, nil},
		{"reading", func(dir string) error { _, err := os.ReadFile(filepath.Join(dir, "a")); return err }, nil},
		{"content, with its time put back", func(dir string) error {
			path := filepath.Join(dir, "a")
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte("b"), 0o644); err != nil {
				return err
			}
			return os.Chtimes(path, info.ModTime(), info.ModTime())
		}, []string{"a was changed"}},
		{"mode", func(dir string) error { return os.Chmod(filepath.Join(dir, "a"), 0o600) }, []string{"a was changed"}},
		{"time", func(dir string) error { return os.Chtimes(filepath.Join(dir, "a"), time.Time{}, time.Unix(1, 0)) }, []string{"a was changed"}},
		{"a file that comes and goes shows in the folder's time", func(dir string) error {
			path := filepath.Join(dir, "below", "x")
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				return err
			}
			return os.Remove(path)
		}, []string{"below was changed"}},
		{"where a link leads", func(dir string) error {
			link := filepath.Join(dir, "below", "link")
			if err := os.Remove(link); err != nil {
				return err
			}
			return os.Symlink("nowhere", link)
		}, []string{"below was changed", "below/link was changed"}},
		{"a new file", func(dir string) error { return os.WriteFile(filepath.Join(dir, "below", "new"), nil, 0o644) }, []string{"below was changed", "below/new was added"}},
		{"no file", func(dir string) error { return os.Remove(filepath.Join(dir, "a")) }, []string{". was changed", "a was removed"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, "below"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("a"), 0o644))
			require.NoError(t, os.Symlink("a", filepath.Join(dir, "below", "link")))
			// The clock of a file system may be coarse.
			long := time.Now().Add(-time.Hour)
			for _, name := range []string{"a", "below", "."} {
				require.NoError(t, os.Chtimes(filepath.Join(dir, name), long, long))
			}
			before, err := Look(dir)
			require.NoError(t, err)
			require.NoError(t, test.change(dir))
			after, err := Look(dir)
			require.NoError(t, err)
			require.Equal(t, test.want, before.Changes(after))
			switch test.name {
			case "time":
				require.Empty(t, before.Timeless().Changes(after.Timeless()))
			case "mode", "content, with its time put back", "no file":
				require.NotEmpty(t, before.Timeless().Changes(after.Timeless()))
			}
		})
	}
}
