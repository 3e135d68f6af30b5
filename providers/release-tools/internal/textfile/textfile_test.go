package textfile_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
	"github.com/agentco/agent/providers/release-tools/internal/textfile"
	"github.com/stretchr/testify/require"
)

func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name, file, kind string
		class            refusal.Class
		lay              func(t *testing.T, root, outside string)
	}{
		{"missing", "CHANGELOG.md", "no-changelog", refusal.NotFound, nil},
		{"link out", "CHANGELOG.md", "changelog-outside", refusal.Denied, func(t *testing.T, root, outside string) {
			require.NoError(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(root, "CHANGELOG.md")))
		}},
		{"folder linked out", "docs/secret", "changelog-outside", refusal.Denied, func(t *testing.T, root, outside string) {
			require.NoError(t, os.Symlink(outside, filepath.Join(root, "docs")))
		}},
		{"dots", "../outside/secret", "changelog-outside", refusal.Denied, nil},
		{"absolute link in", "CHANGELOG.md", "changelog-outside", refusal.Denied, func(t *testing.T, root, _ string) {
			require.NoError(t, os.WriteFile(filepath.Join(root, "notes.md"), nil, 0o644))
			require.NoError(t, os.Symlink(filepath.Join(root, "notes.md"), filepath.Join(root, "CHANGELOG.md")))
		}},
		{"link that climbs out and back", "CHANGELOG.md", "changelog-outside", refusal.Denied, func(t *testing.T, root, _ string) {
			require.NoError(t, os.Symlink("../root/notes.md", filepath.Join(root, "CHANGELOG.md")))
		}},
		{"circle", "CHANGELOG.md", "unreadable-changelog", refusal.Failed, func(t *testing.T, root, _ string) {
			require.NoError(t, os.Symlink("other", filepath.Join(root, "CHANGELOG.md")))
			require.NoError(t, os.Symlink("CHANGELOG.md", filepath.Join(root, "other")))
		}},
		{"dangling link", "CHANGELOG.md", "no-changelog", refusal.NotFound, func(t *testing.T, root, _ string) {
			require.NoError(t, os.Symlink("missing.md", filepath.Join(root, "CHANGELOG.md")))
		}},
		{"folder", "docs", "unreadable-changelog", refusal.Failed, func(t *testing.T, root, _ string) {
			require.NoError(t, os.Mkdir(filepath.Join(root, "docs"), 0o755))
		}},
		{"root", ".", "unreadable-changelog", refusal.Failed, nil},
		{"below a file", "notes.md/CHANGELOG.md", "no-changelog", refusal.NotFound, func(t *testing.T, root, _ string) {
			require.NoError(t, os.WriteFile(filepath.Join(root, "notes.md"), nil, 0o644))
		}},
		{"too large", "CHANGELOG.md", "unreadable-changelog", refusal.Failed, func(t *testing.T, root, _ string) {
			require.NoError(t, os.WriteFile(filepath.Join(root, "CHANGELOG.md"), nil, 0o644))
			require.NoError(t, os.Truncate(filepath.Join(root, "CHANGELOG.md"), textfile.MaxSize+1))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := t.TempDir()
			root, outside := filepath.Join(base, "root"), filepath.Join(base, "outside")
			require.NoError(t, os.Mkdir(root, 0o755))
			require.NoError(t, os.Mkdir(outside, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("s"), 0o644))
			if tt.lay != nil {
				tt.lay(t, root, outside)
			}
			_, err := textfile.Open(root, tt.file)
			r, ok := errors.AsType[*refusal.Error](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, tt.kind, r.Kind)
			require.Equal(t, tt.class, r.Class)
		})
	}
}

func TestReplace(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "docs"), 0o755))
	real := filepath.Join(root, "docs", "log.md")
	require.NoError(t, os.WriteFile(real, []byte("old"), 0o640))
	require.NoError(t, os.Symlink("./docs/../docs/link", filepath.Join(root, "CHANGELOG.md")))
	require.NoError(t, os.Symlink("log.md", filepath.Join(root, "docs", "link")))

	f, err := textfile.Open(root, "CHANGELOG.md")
	require.NoError(t, err)
	require.Equal(t, "docs/log.md", f.Path)
	require.NoError(t, f.Replace(t.Context(), []byte("new")))
	requireContent(t, real, "new")
	info, err := os.Stat(real)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o640), info.Mode())
	info, err = os.Lstat(filepath.Join(root, "CHANGELOG.md"))
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeSymlink)

	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, f.Replace(ended, []byte("newer")), context.Canceled)
	requireContent(t, real, "new")

	require.NoError(t, os.WriteFile(real, []byte("theirs"), 0o640))
	require.ErrorContains(t, f.Replace(t.Context(), []byte("newer")), "changed by someone else")
	requireContent(t, real, "theirs")
	left, err := os.ReadDir(filepath.Join(root, "docs"))
	require.NoError(t, err)
	require.Len(t, left, 2, "a temporary file was left")
}

func requireContent(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}

// A process that was killed while it wrote leaves its new file; a later one removes it, and nothing that could be in use.
func TestReplaceClearsWhatAKillLeft(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, age time.Duration) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644))
		at := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), at, at))
	}
	stale, fresh := ".CHANGELOG.md."+rand.Text(), ".CHANGELOG.md."+rand.Text()
	write("CHANGELOG.md", 0)
	write(stale, time.Hour)
	write(fresh, 0)
	write(".CHANGELOG.md.swp", time.Hour)
	f, err := textfile.Open(dir, "CHANGELOG.md")
	require.NoError(t, err)
	require.NoError(t, f.Replace(t.Context(), []byte("y")))
	require.NoFileExists(t, filepath.Join(dir, stale))
	require.FileExists(t, filepath.Join(dir, fresh))
	require.FileExists(t, filepath.Join(dir, ".CHANGELOG.md.swp"))
}
