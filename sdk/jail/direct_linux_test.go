package jail

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where the system cannot reach a file in one call, every name means what it
// means where it can, and is refused in the same words.
func TestWithoutTheDirectWay(t *testing.T) {
	h := newHouse(t, Options{Deny: []string{"secret"}})
	names := slices.Sorted(maps.Values(h.escapes(t)))
	h.put(t, "root/dir/deep/f", "deep\n")
	h.put(t, "root/dir/secret/f", "SECRET")
	h.link(t, "dir/deep/f", "root/inside")
	h.link(t, "dir/secret/f", "root/hidden")
	h.link(t, "loop", "root/loop")
	names = append(names, ".", "dir", "dir/x", "dir/deep/f", "dir/deep/../x", "inside", "hidden", "loop", "dir/secret", "dir/secret/f",
		"dir/", "dir/deep/", "dir/deep//", "dir/x/", "inside/", "d/", "none/", h.root+"/", "dir/x/below", "dir/none", "none/below", "none", h.root, h.root+"/dir/deep", "\x00")

	over, err := New(Options{Roots: []string{h.root}, Deny: []string{"secret"}})
	require.NoError(t, err)
	defer func() { require.Error(t, over.Close(), "a part of it is closed already") }()
	require.NoError(t, over.roots[0].direct.close())
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, h.tell(t, name), (house{Jail: over}).tell(t, name))
		})
	}
}

// tell is all that a jail says of a name.
func (h house) tell(t *testing.T, name string) (said []string) {
	t.Helper()
	note := func(what string, err error) {
		if err != nil {
			what = err.Error()
		}
		said = append(said, what)
	}
	resolved, err := h.Resolve(name)
	note(resolved, err)
	info, err := h.Stat(name)
	note("", err)
	if err == nil {
		now, err := os.Stat(resolved)
		require.NoError(t, err)
		require.True(t, os.SameFile(info, now))
		note(info.Mode().String(), nil)
	}
	info, _, err = h.LstatIfPossible(name)
	note("", err)
	if err == nil {
		note(info.Mode().String(), nil)
	}
	for _, flag := range []int{os.O_RDONLY, os.O_WRONLY | os.O_APPEND, os.O_RDWR} {
		f, err := h.OpenFile(name, flag, 0)
		note("opened", err)
		if err != nil {
			continue
		}
		require.Equal(t, resolved, filepath.Clean(f.Name()), "an open file has the name that its name resolves to")
		if flag == os.O_RDONLY {
			body, err := io.ReadAll(f)
			note(string(body), err)
		}
		require.NoError(t, f.Close())
	}
	d, err := h.OpenDir(name)
	note("", err)
	if err == nil {
		note(d.Path(), nil)
		require.NoError(t, d.Close())
	}
	return said
}
