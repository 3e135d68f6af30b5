//go:build unix

package jail

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// listed are the names in d with their types, and what is hidden.
func listedIn(t *testing.T, d *Dir) (names []string, hidden int) {
	t.Helper()
	entries, hidden, err := d.Entries()
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, fmt.Sprintf("%s %v", e.Name, e.Type))
	}
	slices.Sort(names)
	return names, hidden
}

func TestDir(t *testing.T) {
	h := newHouse(t, Options{Deny: []string{".env", "/sub/own", "*.key"}, Own: func(name string) bool { return strings.HasSuffix(name, "~") }})
	h.put(t, "root/f", "12345")
	h.put(t, "root/f~", "")
	h.put(t, "root/own", "")
	h.put(t, "root/.ENV", "SECRET")
	h.put(t, "root/a.key/f", "SECRET")
	h.put(t, "root/sub/own", "SECRET")
	h.put(t, "root/sub/g", "")
	h.put(t, "out/f", "OUT")
	h.link(t, "../out", "root/away")
	h.link(t, "f", "root/near")
	require.NoError(t, os.Chmod(h.root+"/f", 0o640|fs.ModeSetuid))
	require.NoError(t, os.Chtimes(h.root+"/f", time.Time{}, time.Unix(1e9, 5)))

	d, err := h.OpenDir(h.root)
	require.NoError(t, err)
	defer d.Close()
	names, hidden := listedIn(t, d)
	require.Equal(t, []string{"away L---------", "f ----------", "near L---------", "own ----------", "sub d---------"}, names)
	require.Equal(t, 2, hidden)

	info, err := d.Lstat("f")
	require.NoError(t, err)
	require.Equal(t, Info{Mode: 0o640 | fs.ModeSetuid, Size: 5, ModTime: time.Unix(1e9, 5)}, info)
	target, err := d.Readlink("away")
	require.NoError(t, err)
	require.Equal(t, "../out", target)
	f, err := d.Open("f")
	require.NoError(t, err)
	body, err := io.ReadAll(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Equal(t, "12345", string(body))

	sub, err := d.Dir("sub")
	require.NoError(t, err)
	defer sub.Close()
	require.Equal(t, h.root+"/sub", sub.Path())
	names, hidden = listedIn(t, sub)
	require.Equal(t, []string{"g ----------"}, names)
	require.Equal(t, 1, hidden)
}

func TestDirRefuses(t *testing.T) {
	h := newHouse(t, Options{Deny: []string{".env", "secret"}})
	h.put(t, "root/f", "")
	h.put(t, "root/.env", "SECRET")
	h.put(t, "root/secret/f", "SECRET")
	h.put(t, "out/f", "OUT")
	h.link(t, "../out", "root/away")
	h.link(t, "f", "root/near")
	d, err := h.OpenDir(".")
	require.NoError(t, err)
	defer d.Close()
	for name, want := range map[string]error{
		"..": fs.ErrInvalid, ".": fs.ErrInvalid, "": fs.ErrInvalid, "secret/f": fs.ErrInvalid, "../out": fs.ErrInvalid, "f\x00": ErrNUL,
		".env": ErrDenied, "secret": ErrDenied, "none": fs.ErrNotExist, "away": nil, "near": nil,
	} {
		_, err := d.Open(name)
		require.Error(t, err, name)
		below, dirErr := d.Dir(name)
		require.Nil(t, below)
		require.Error(t, dirErr, name)
		if want != nil {
			require.ErrorIs(t, err, want, name)
			require.ErrorIs(t, dirErr, want, name)
		}
	}
	_, err = d.Dir("f")
	require.ErrorIs(t, err, syscall.ENOTDIR)
	for name, want := range map[string]error{"f": syscall.ENOTDIR, "none": fs.ErrNotExist, "away": ErrEscape, "..": ErrEscape, "secret": ErrDenied} {
		_, err := h.OpenDir(name)
		require.ErrorIs(t, err, want, name)
	}
}

// A root inside another has its own place in the deny list.
func TestDirOfNestedRoot(t *testing.T) {
	base := t.TempDir()
	require.NoError(t, os.MkdirAll(base+"/inner/a", 0o755))
	for _, name := range []string{"/inner/a/f", "/inner/f"} {
		require.NoError(t, os.WriteFile(base+name, nil, 0o644))
	}
	j, err := New(Options{Roots: []string{base, base + "/inner"}, Deny: []string{"/a/f"}})
	require.NoError(t, err)
	defer j.Close()
	d, err := j.OpenDir(base)
	require.NoError(t, err)
	defer d.Close()
	inner, err := d.Dir("inner")
	require.NoError(t, err)
	defer inner.Close()
	a, err := inner.Dir("a")
	require.NoError(t, err)
	defer a.Close()
	names, hidden := listedIn(t, a)
	require.Empty(t, names)
	require.Equal(t, 1, hidden)
}

func TestKernelTreesAreNotWalked(t *testing.T) {
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("there is no /proc")
	}
	j, err := New(Options{Roots: []string{"/"}})
	require.NoError(t, err)
	defer j.Close()
	d, err := j.OpenDir("/")
	require.NoError(t, err)
	defer d.Close()
	_, err = d.Dir("proc")
	require.ErrorIs(t, err, ErrEscape)
}

func TestPipeInDirNeverBlocks(t *testing.T) {
	h := newHouse(t, Options{})
	require.NoError(t, syscall.Mkfifo(h.root+"/pipe", 0o644))
	d, err := h.OpenDir(".")
	require.NoError(t, err)
	defer d.Close()
	if f, err := d.Open("pipe"); err == nil { // it may be opened, but has nothing to say
		n, err := f.Read(make([]byte, 8))
		require.Zero(t, n)
		require.Error(t, err)
		require.NoError(t, f.Close())
	}
}

// A directory that is swapped for a link while it is walked leads nowhere else.
func TestRaceOfSwappedDirectoryInWalk(t *testing.T) {
	h := newHouse(t, Options{Deny: []string{"secret"}})
	h.put(t, "root/sub/f", "in")
	h.put(t, "root/hidden/secret", "SECRET")
	h.put(t, "out/f", "OUT")
	h.put(t, "out/more", "OUT")
	end := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() { h.swapUntil(t, end) })
	rounds, seen := 5000, 0
	if testing.Short() {
		rounds = 500
	}
	d, err := h.OpenDir(".")
	require.NoError(t, err)
	defer d.Close()
	for i := 0; i < rounds || seen == 0; i++ { // the directory may be away for all of the rounds
		sub, err := d.Dir("sub")
		if err != nil {
			require.True(t, errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) || errors.Is(err, ErrUnstable), err)
			continue
		}
		seen++
		names, _ := listedIn(t, sub)
		require.Equal(t, []string{"f ----------"}, names)
		f, err := sub.Open("f")
		require.NoError(t, err)
		body, err := io.ReadAll(f)
		require.NoError(t, errors.Join(err, f.Close(), sub.Close()))
		require.Equal(t, "in", string(body))
	}
	close(end)
	swapper.Wait()
}

// The quick deny list and the other one are of one mind.
func TestQuickDenyAgrees(t *testing.T) {
	patterns := []string{".env", ".env.*", "!.env.example", "*.pem", "!ca.pem", "id_?sa", "secrets/", "/build/*.log", "docs/**/private", "!docs/a/private", "*.BAK", "a*b", "{x,y}.z", `a\*`, "[ab]c", "*"}
	names := []string{".env", ".ENV", ".env.", ".env.x", ".env.example", "a.pem", ".pem", "ca.pem", "id_rsa", "secrets", "x.log", "private", "x.bak", "ab", "a", "aXb", "x.z", "a*", "bc", "id_r\u017fa", "\xff"}
	for skip := range patterns {
		list, err := parseDeny(slices.Delete(slices.Clone(patterns), skip, skip+1))
		require.NoError(t, err)
		for n := range list {
			some := list[:n+1]
			for _, dir := range []string{"", "build/", "docs/a/", "docs/x/y/", "Build/"} {
				for _, name := range names {
					require.Equal(t, some.matchesOne(fold(dir+name)), some.quick().denies(dir, name), "%v %s%s", some, dir, name)
				}
			}
		}
	}
}

func BenchmarkWalkOfOneDirectory(b *testing.B) {
	root := b.TempDir()
	for i := range 10_000 {
		require.NoError(b, os.WriteFile(fmt.Sprintf("%s/%d", root, i), nil, 0o644))
	}
	j, err := New(Options{Roots: []string{root}, Deny: DefaultDeny})
	require.NoError(b, err)
	defer j.Close()
	for b.Loop() {
		d, err := j.OpenDir(root)
		require.NoError(b, err)
		entries, _, err := d.Entries()
		require.NoError(b, err)
		require.Len(b, entries, 10_000)
		require.NoError(b, d.Close())
	}
}
