//go:build unix

package jail

import (
	"io"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Everything that looks or changes is tried while a directory is swapped for a
// link that leads out: what lies outside is neither seen nor changed.
func TestRaceOfSwappedDirectory(t *testing.T) {
	h := newHouse(t, Options{Deny: []string{"secret"}})
	h.put(t, "root/sub/f", "in")
	h.put(t, "root/hidden/secret", "SECRET")
	h.put(t, "out/f", "OUT")
	before := tree(t, h.base+"/out")
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		h.swapUntil(t, end)
	}()
	rounds := 5000
	if testing.Short() {
		rounds = 500
	}
	for i := range rounds {
		if body, err := h.read("sub/f"); err == nil {
			require.Equal(t, "in", body)
		}
		if info, err := h.Stat("sub/f"); err == nil {
			require.EqualValues(t, 2, info.Size())
		}
		h.meddle(t, i)
	}
	close(end)
	<-ended
	require.Equal(t, before, tree(t, h.base+"/out"))
}

func (h house) swapUntil(t *testing.T, end <-chan struct{}) {
	sub, aside := h.root+"/sub", h.root+"/aside"
	for i := 0; ; i++ {
		select {
		case <-end:
			return
		default:
		}
		target := []string{h.base + "/out", "../out", "hidden"}[i%3]
		for _, err := range []error{os.Rename(sub, aside), os.Symlink(target, sub), os.Remove(sub), os.Rename(aside, sub)} {
			if err != nil {
				t.Error(err)
				return
			}
		}
	}
}

// meddle tries what changes things; it may fail, for everything moves.
func (h house) meddle(t *testing.T, i int) {
	switch i % 5 {
	case 0:
		if f, err := h.OpenFile("sub/new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644); err == nil {
			_, err = io.WriteString(f, "w")
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}
	case 1:
		_ = h.Rename("sub/new", "sub/newer")
	case 2:
		_ = h.Chmod("sub/f", 0o600)
	case 3:
		if f, err := h.Open("sub/secret"); err == nil {
			require.NoError(t, f.Close())
			t.Error("what is denied was opened through a swapped link")
		}
	case 4:
		_ = h.Remove("sub/newer")
	}
}

func TestPipesNeverBlock(t *testing.T) {
	h := newHouse(t, Options{})
	require.NoError(t, syscall.Mkfifo(h.root+"/pipe", 0o644))
	for _, flag := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_CREATE | os.O_TRUNC} {
		_, err := h.OpenFile("pipe", flag, 0o644)
		var irregular *Irregular
		require.ErrorAs(t, err, &irregular)
		require.ErrorIs(t, err, os.ErrInvalid)
		require.Equal(t, "a named pipe", irregular.Kind())
	}
	_, err := h.OpenFile("pipe", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	require.ErrorIs(t, err, os.ErrExist)
}

func TestDevicesAreRefused(t *testing.T) {
	j, err := New(Options{Roots: []string{"/dev"}})
	if err != nil {
		t.Skip(err)
	}
	defer func() { require.NoError(t, j.Close()) }()
	_, err = j.Open("null")
	require.ErrorContains(t, err, "a device")
}

func TestTheKernelIsNoFiles(t *testing.T) {
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip(err)
	}
	_, err := New(Options{Roots: []string{"/proc/self"}})
	require.ErrorContains(t, err, "shows the kernel")
	j, err := New(Options{Roots: []string{"/"}})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	for _, name := range []string{"/proc/self/environ", "/proc/self/root/etc/passwd", "/proc", "/dev/../proc/self/maps", "/dev/fd/0"} {
		_, err := j.Open(name)
		require.ErrorIs(t, err, ErrEscape, name)
	}
}

// A link out that appears while directories are made is refused as one.
func TestRaceOfMadeDirectories(t *testing.T) {
	h := newHouse(t, Options{})
	h.put(t, "out/f", "")
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			default:
				_ = os.Symlink("../out", h.root+"/d") // fails where the other side was first
				_ = os.RemoveAll(h.root + "/d")
			}
		}
	}()
	defer func() {
		close(end)
		<-ended
	}()
	for range 2000 {
		require.NotErrorIs(t, h.MkdirAll("d", 0o755), fs.ErrExist)
	}
}
