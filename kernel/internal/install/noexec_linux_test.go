package install

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program that cannot be executed is told why: the mount, or its mode (K11).
func TestWhyNotExecutable(t *testing.T) {
	mounted := t.TempDir()
	if err := syscall.Mount("none", mounted, "tmpfs", syscall.MS_NOEXEC, "size=1m"); err == nil { // else: not permitted
		t.Cleanup(func() { require.NoError(t, syscall.Unmount(mounted, 0)) })
		path := filepath.Join(mounted, "program")
		require.NoError(t, os.WriteFile(path, nil, 0o755))
		require.ErrorContains(t, executableOf(t, path), "mounted noexec: set XDG_CACHE_HOME")
	}
	path := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	require.ErrorContains(t, executableOf(t, path), "its mode is -rw-r--r--")
	require.NoError(t, os.Chmod(path, 0o755))
	require.NoError(t, Executable(path))
}

// A umask that takes everything away is not for what others are to read and execute (K11).
func TestUmask(t *testing.T) {
	archive := tarball(t, file("provider-x"), text("README"))
	s, k := newSandbox(t), keyFor(t, archive, linux)
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	require.NoError(t, s.install(t, archive, k))
	for _, path := range []string{s.cache.Path(k), filepath.Dir(s.cache.Path(k))} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o755), info.Mode().Perm())
	}
}

// A full disk is said to be one, and nothing of the install is left on it.
func TestFullDisk(t *testing.T) {
	mounted := t.TempDir()
	if err := syscall.Mount("none", mounted, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("mounting is not permitted: ", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(mounted, 0)) })
	large := file("provider-x")
	large.content = strings.Repeat("0123456789abcdef", 1<<16)
	archive := tarball(t, large)
	s := sandbox{cache: Cache{Dir: mounted}, top: mounted}
	err := s.install(t, archive, keyFor(t, archive, linux))
	requireKind(t, CacheFailed, err)
	require.ErrorContains(t, err, "no space left on device")
	require.Empty(t, s.files(t))
}
