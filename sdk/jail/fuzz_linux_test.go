package jail

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// words are what fuzzed trees and paths are made of.
var words = []string{
	"a", "b", "c", "..", ".", "", "a/b", "../..", "b/../c", "ROOT", "OUT", "ROOT/a", "ROOT/../OUTER",
	"/proc/self/root", "/proc/self/cwd", "/proc/self/fd/0", "/proc/self/root/OUT", "a/..", "a/b/c", "../root", "./", "/", "c\n", "\x00", "ROOT-evil",
}

// grow makes directories, files and links below root as data says.
func grow(t *testing.T, root string, data []byte) {
	t.Helper()
	for len(data) >= 4 {
		name := filepath.Join(root, words[data[0]%3], words[data[1]%3])
		if data[1]&0x80 != 0 { // deeper
			name = filepath.Join(name, words[data[0]>>4%3])
		}
		_ = os.MkdirAll(filepath.Dir(name), 0o755) // something may be in the way
		switch data[2] % 4 {
		case 0:
			_ = os.Mkdir(name, 0o755)
		case 1:
			if f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
				require.NoError(t, f.Close())
			}
		default:
			_ = os.Symlink(spell(root, data[3:min(len(data), 3+int(data[2]>>4))]), name)
		}
		data = data[4:]
	}
}

// spell makes a path of words.
func spell(root string, data []byte) string {
	var parts []string
	for _, b := range data {
		parts = append(parts, words[int(b)%len(words)])
	}
	path := strings.Join(parts, "/")
	return strings.NewReplacer("ROOT", root, "OUTER", "out/s", "OUT", filepath.Dir(root)+"/out").Replace(path)
}

// Whatever the tree and the path: what opens is in the root, and what the
// kernel itself would open beneath the root opens too, as the same file.
func FuzzOpen(f *testing.F) {
	f.Add([]byte("abcdefghijkl"), []byte{0, 1})
	f.Add([]byte{0, 1, 1, 0, 1, 1, 0x22, 3}, []byte{1, 1, 3, 0})
	f.Add([]byte{0, 0, 0x32, 10, 0, 1, 0x33, 9, 1, 0, 1, 1}, []byte{0, 0, 0})
	f.Fuzz(func(t *testing.T, seed, path []byte) {
		if len(seed) > 64 || len(path) > 12 {
			return
		}
		h := newHouse(t, Options{})
		h.put(t, "out/s", "SECRET")
		h.put(t, "root-evil/a", "SECRET")
		grow(t, h.root, seed)
		name := spell(h.root, path)
		inside := inodes(t, h.root)

		ours, err := h.Open(name)
		if err == nil {
			info, err := ours.Stat()
			require.NoError(t, err)
			require.True(t, holds(inside, info), "%q led out", name)
			defer func() { require.NoError(t, ours.Close()) }()
		}
		theirs := beneath(t, h.root, name)
		if theirs != nil && h.spells(filepath.Clean(h.Abs("", name))) {
			require.NoError(t, err, "%q", name)
			info, err := ours.Stat()
			require.NoError(t, err)
			require.True(t, os.SameFile(info, theirs), "%q", name)
		}
	})
}

// Whatever the tree and the paths, and whatever is done with them: nothing
// outside the root changes, and nothing of it is shown.
func FuzzChange(f *testing.F) {
	f.Add([]byte{0, 1, 0x22, 3}, []byte{1, 1, 3, 0}, []byte{0, 1}, uint8(3))
	f.Add([]byte{0, 0, 0x32, 10, 0, 1, 0x33, 9, 1, 0, 1, 1}, []byte{0, 0, 0}, []byte{1}, uint8(9))
	for op := range uint8(14) {
		f.Add([]byte{0, 0, 0x22, 10, 0, 1, 1, 1, 1, 1, 0x22, 13}, []byte{0, 0, 18}, []byte{1, 2}, op)
	}
	f.Fuzz(func(t *testing.T, seed, path, other []byte, op uint8) {
		if len(seed) > 64 || len(path) > 12 || len(other) > 12 {
			return
		}
		h := newHouse(t, Options{})
		h.put(t, "out/s", "SECRET")
		h.put(t, "root-evil/a", "SECRET")
		grow(t, h.root, seed)
		before := h.outside(t)
		h.act(t, spell(h.root, path), spell(h.root, other), op)
		require.Equal(t, before, h.outside(t))
	})
}

// act does one thing. It may fail.
func (h house) act(t *testing.T, name, other string, op uint8) {
	t.Helper()
	now := time.Now()
	acts := []func() (string, error){
		func() (string, error) { return h.read(name) },
		func() (string, error) { return "", afero.WriteFile(h, name, []byte("x"), 0o666) },
		func() (string, error) { return "", h.Rename(name, other) },
		func() (string, error) { return "", h.RenameNew(name, other) },
		func() (string, error) { return "", h.Link(name, other) },
		func() (string, error) { return "", h.SymlinkIfPossible(other, name) },
		func() (string, error) { return "", h.Mkdir(name, 0o777) },
		func() (string, error) { return "", h.MkdirAll(name, 0o777) },
		func() (string, error) { return "", h.Remove(name) },
		func() (string, error) { _, err := h.RemoveTree(t.Context(), name); return "", err },
		func() (string, error) { return "", h.RemoveAll(name) },
		func() (string, error) { return "", h.Chmod(name, 0) },
		func() (string, error) { return "", h.Chtimes(name, now, now) },
		func() (string, error) { _, err := h.Survey(t.Context(), name); return "", err },
	}
	text, err := acts[int(op)%len(acts)]()
	require.NotContains(t, text, "SECRET")
	if err != nil {
		require.NotContains(t, err.Error(), "SECRET")
	}
	require.DirExists(t, h.root, "the root stays")
}

// outside is all that lies beside the root.
func (h house) outside(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, dir := range []string{"/out", "/root-evil"} {
		maps.Copy(found, tree(t, h.base+dir))
	}
	entries, err := os.ReadDir(h.base)
	require.NoError(t, err)
	for _, entry := range entries {
		found[entry.Name()] = entry.Type().String()
	}
	return found
}

// beneath is what the kernel opens below root, or nil.
func beneath(t *testing.T, root, name string) os.FileInfo {
	t.Helper()
	dir, err := os.Open(root)
	require.NoError(t, err)
	defer func() { require.NoError(t, dir.Close()) }()
	how := &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(int(dir.Fd()), name, how)
	if errors.Is(err, unix.ENOSYS) {
		t.Skip(err)
	}
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), name)
	defer func() { require.NoError(t, f.Close()) }()
	info, err := f.Stat()
	require.NoError(t, err)
	return info
}

func inodes(t *testing.T, root string) []os.FileInfo {
	t.Helper()
	var found []os.FileInfo
	require.NoError(t, filepath.Walk(root, func(_ string, info os.FileInfo, err error) error {
		found = append(found, info)
		return err
	}))
	return found
}

func holds(infos []os.FileInfo, one os.FileInfo) bool {
	for _, info := range infos {
		if os.SameFile(info, one) {
			return true
		}
	}
	return false
}
