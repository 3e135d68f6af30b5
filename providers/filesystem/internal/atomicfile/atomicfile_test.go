package atomicfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// disks are filesystems to be tried, each with an empty directory.
func disks(t *testing.T) map[string]struct {
	fs  afero.Fs
	dir string
} {
	memory := afero.NewMemMapFs()
	require.NoError(t, memory.MkdirAll("/work", 0o755))
	return map[string]struct {
		fs  afero.Fs
		dir string
	}{"disk": {afero.NewOsFs(), t.TempDir()}, "memory": {memory, "/work"}}
}

func names(t *testing.T, files afero.Fs, dir string) []string {
	t.Helper()
	infos, err := afero.ReadDir(files, dir)
	require.NoError(t, err)
	var out []string
	for _, info := range infos {
		out = append(out, info.Name())
	}
	return out
}

// to is a change of the whole content.
func to(name, content string) Change { return Change{Name: name, Content: strings.NewReader(content)} }

// guarded is a change that is stopped by why.
func guarded(name string, why error) Change {
	c := to(name, "new")
	c.Guard = func() error { return why }
	return c
}

func TestWrite(t *testing.T) {
	for name, d := range disks(t) {
		t.Run(name, func(t *testing.T) {
			w := Writer{FS: d.fs}
			target := filepath.Join(d.dir, "f")
			for _, content := range []string{"first", "", strings.Repeat("long", 1<<20)} {
				require.NoError(t, w.Write(t.Context(), to(target, content)))
				got, err := afero.ReadFile(d.fs, target)
				require.NoError(t, err)
				require.Equal(t, content, string(got))
				require.Equal(t, []string{"f"}, names(t, d.fs, d.dir))
			}
			require.NoError(t, d.fs.Chmod(target, 0o750))
			require.NoError(t, w.Write(t.Context(), to(target, "x")))
			info, err := d.fs.Stat(target)
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(0o750), info.Mode().Perm())
		})
	}
}

func TestWriteStops(t *testing.T) {
	no := errors.New("no")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, d := range disks(t) {
		t.Run(name, func(t *testing.T) {
			w := Writer{FS: d.fs}
			target := filepath.Join(d.dir, "f")
			require.NoError(t, w.Write(t.Context(), to(target, "old")))
			require.ErrorIs(t, w.Write(t.Context(), guarded(target, no)), no)
			require.ErrorIs(t, w.Write(cancelled, to(target, "new")), context.Canceled)
			require.ErrorIs(t, w.Write(t.Context(), guarded(filepath.Join(d.dir, "none/f"), no)), map[string]error{"disk": fs.ErrNotExist, "memory": no}[name])
			got, err := afero.ReadFile(d.fs, target)
			require.NoError(t, err)
			require.Equal(t, "old", string(got))
		})
	}
}

// broken is a filesystem in which one operation fails.
type broken struct {
	afero.Fs
	at string
}

var errBroken = errors.New("the disk is broken")

func (b broken) Rename(from, to string) error {
	if b.at == "rename" {
		return errBroken
	}
	return b.Fs.Rename(from, to)
}

func (b broken) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	if b.at == "create" && flag&os.O_EXCL != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errBroken}
	}
	f, err := b.Fs.OpenFile(name, flag, perm)
	if err != nil || flag&os.O_EXCL == 0 {
		return f, err
	}
	return brokenFile{f, b.at}, nil
}

type brokenFile struct {
	afero.File
	at string
}

func (b brokenFile) Write(p []byte) (int, error) {
	if b.at == "write" {
		n, _ := b.File.Write(p[:len(p)/2])
		return n, errBroken
	}
	return b.File.Write(p)
}

func (b brokenFile) Chmod(mode fs.FileMode) error {
	if b.at == "mode" {
		return errBroken
	}
	return b.File.(interface{ Chmod(fs.FileMode) error }).Chmod(mode)
}

func (b brokenFile) Sync() error {
	if b.at == "sync" {
		return errBroken
	}
	return b.File.Sync()
}

func (b brokenFile) Close() error {
	if err := b.File.Close(); err != nil || b.at != "close" {
		return err
	}
	return errBroken
}

func TestFailureAtEveryStepLeavesTheOldFile(t *testing.T) {
	for _, at := range []string{"create", "write", "mode", "sync", "close", "rename"} {
		t.Run(at, func(t *testing.T) {
			dir := t.TempDir()
			target := filepath.Join(dir, "f")
			require.NoError(t, os.WriteFile(target, []byte("old"), 0o640))
			w := Writer{FS: broken{afero.NewOsFs(), at}}
			require.ErrorIs(t, w.Write(t.Context(), to(target, "new")), errBroken)
			body, err := os.ReadFile(target)
			require.NoError(t, err)
			require.Equal(t, "old", string(body))
			require.Equal(t, []string{"f"}, names(t, afero.NewOsFs(), dir))
		})
	}
}

func TestDirErrorNamesTheDirectory(t *testing.T) {
	dir := t.TempDir()
	w := Writer{FS: broken{afero.NewOsFs(), "create"}}
	err := w.Write(t.Context(), to(filepath.Join(dir, "f"), ""))
	var refused *DirError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, dir, refused.Dir)
}

func TestIsTemp(t *testing.T) {
	require.True(t, IsTemp("/a/.agent-ABCDEFGHIJKLMNOPQRSTUVWXYZ.tmp"))
	for _, name := range []string{"/a/f", "/a/.agent-.tmp", "/a/.agent-x.tmp", "", "/.agent-ABCDEFGHIJKLMNOPQRSTUVWXYZ.tmp/x"} {
		require.False(t, IsTemp(name), name)
	}
}
