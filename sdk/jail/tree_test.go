package jail

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTreeIsTakenWholeOrNotAtAll(t *testing.T) {
	h := newHouse(t, Options{Deny: []string{".env"}})
	h.put(t, "out/f", "OUT")
	h.put(t, "root/a/f", "12")
	h.put(t, "root/a/b/g", "345")
	h.link(t, "../../out", "root/a/link")
	h.put(t, "root/hides/deep/.env", "SECRET")
	h.put(t, "root/hides/f", "x")

	got, err := h.Survey(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, Tree{Entries: 5, Bytes: 5}, got)

	before := tree(t, h.base)
	_, err = h.Survey(t.Context(), "hides")
	require.ErrorIs(t, err, ErrDenied)
	require.ErrorContains(t, err, "holds")
	_, err = h.RemoveTree(t.Context(), "hides")
	require.ErrorIs(t, err, ErrDenied)
	require.ErrorIs(t, h.RemoveAll("hides"), ErrDenied)
	_, err = h.RemoveTree(t.Context(), ".")
	require.ErrorIs(t, err, ErrRoot)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = h.RemoveTree(ended, "a")
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, before, tree(t, h.base), "nothing is gone")

	removed, err := h.RemoveTree(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, 5, removed)
	require.NoDirExists(t, h.root+"/a")
	require.FileExists(t, h.base+"/out/f", "a link goes, not what it leads to")
	_, err = h.RemoveTree(t.Context(), "a")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, h.RemoveAll("a"))
}

func TestTreeThatIsTooDeep(t *testing.T) {
	h := newHouse(t, Options{})
	name := "d" + strings.Repeat("/d", deepest+1)
	require.NoError(t, os.MkdirAll(h.root+"/"+name, 0o755))
	_, err := h.RemoveTree(t.Context(), "d")
	require.ErrorIs(t, err, ErrTooDeep)
	require.DirExists(t, h.root+"/"+name)
}

func TestRenameNewReplacesNothing(t *testing.T) {
	h := newHouse(t, Options{Roots: []string{t.TempDir()}})
	h.put(t, "root/a", "A")
	h.put(t, "root/b", "B")
	h.put(t, "root/dir/f", "f")
	h.link(t, "nowhere", "root/link")
	before := tree(t, h.base)
	for _, to := range []string{"b", "dir", "link"} {
		require.ErrorIs(t, h.RenameNew("a", to), fs.ErrExist, to)
		require.Error(t, h.Link("a", to), to)
	}
	require.ErrorIs(t, h.RenameNew("a", "no/such"), fs.ErrNotExist)
	require.ErrorIs(t, h.RenameNew("none", "c"), fs.ErrNotExist)
	require.ErrorIs(t, h.Link("dir", "c"), fs.ErrPermission)
	require.ErrorContains(t, h.RenameNew("a", h.roots[1].dir+"/a"), "cross-device")
	require.Equal(t, before, tree(t, h.base))

	require.NoError(t, h.RenameNew("link", "dir/link"))
	require.NoError(t, h.RenameNew("dir", "moved"))
	require.NoError(t, h.Link("a", "moved/a2"))
	require.NoError(t, h.RenameNew("a", "moved/a"))
	body, err := h.read("moved/a2")
	require.NoError(t, err)
	require.Equal(t, "A", body)
	target, err := os.Readlink(h.root + "/moved/link")
	require.NoError(t, err)
	require.Equal(t, "nowhere", target)
}

func TestTreeThatCannotBeEmptied(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("the superuser may do everything")
	}
	h := newHouse(t, Options{})
	h.put(t, "root/a/first", "")
	h.put(t, "root/a/shut/f", "")
	require.NoError(t, os.Chmod(h.root+"/a/shut", 0o555))
	t.Cleanup(func() { require.NoError(t, os.Chmod(h.root+"/a/shut", 0o755)) })
	before := tree(t, h.base)
	removed, err := h.RemoveTree(t.Context(), "a")
	require.ErrorIs(t, err, fs.ErrPermission)
	require.Zero(t, removed)
	require.Equal(t, before, tree(t, h.base), "not even the first is gone")
}
