//go:build linux

package workdir

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpen(t *testing.T) {
	base := t.TempDir()
	for _, dir := range []string{"root/a/b", "rootlike", "other", "second"} {
		require.NoError(t, os.MkdirAll(filepath.Join(base, dir), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(base, "root/file"), nil, 0o600))
	for link, target := range map[string]string{"root/out": "../other", "root/in": "a", "root/abs": filepath.Join(base, "root/a"), "root/dead": "nowhere", "alias": "root"} {
		require.NoError(t, os.Symlink(target, filepath.Join(base, link)))
	}
	roots, err := NewRoots(base, []string{"alias", filepath.Join(base, "second")})
	require.NoError(t, err)
	for _, c := range []struct {
		name, path string
		want       error
	}{
		{"the root", "root", nil},
		{"by its other name", "alias/a", nil},
		{"deep", "root/a/b", nil},
		{"the second root", "second", nil},
		{"link inside", "root/in/b", nil},
		{"absolute link inside", "root/abs", nil},
		{"out and in again", "root/../other/../root/a", nil},
		{"link out", "root/out", ErrOutside},
		{"up", "root/..", ErrOutside},
		{"same beginning", "rootlike", ErrOutside},
		{"top", "../../../../../../../../..", ErrOutside},
		{"missing", "root/none", fs.ErrNotExist},
		{"dead link", "root/dead", fs.ErrNotExist},
		{"file", "root/file", syscall.ENOTDIR},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := roots.Open(base + "/" + c.path)
			if c.want != nil {
				require.ErrorIs(t, err, c.want)
				return
			}
			require.NoError(t, err)
			require.NoError(t, dir.Close())
		})
	}
	_, err = NewRoots(base, []string{"none"})
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = NewRoots(base, []string{"root/file"})
	require.ErrorIs(t, err, syscall.ENOTDIR)
}

func TestDirectoryThatCannotBeListed(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "x")
	require.NoError(t, os.Mkdir(dir, 0o100))
	roots, err := NewRoots(base, []string{"."})
	require.NoError(t, err)
	f, err := roots.Open(dir)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}
