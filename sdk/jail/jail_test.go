package jail

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// house is a jail over base/root, with things beside it.
type house struct {
	*Jail
	base, root string
}

func newHouse(t *testing.T, options Options) house {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	h := house{base: base, root: filepath.Join(base, "root")}
	require.NoError(t, os.Mkdir(h.root, 0o755))
	options.Roots = append([]string{h.root}, options.Roots...)
	h.Jail, err = New(options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return h
}

// put makes a file below base, and the directories above it.
func (h house) put(t *testing.T, name, content string) {
	t.Helper()
	name = filepath.Join(h.base, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(content), 0o644))
}

func (h house) link(t *testing.T, target, name string) {
	t.Helper()
	name = filepath.Join(h.base, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.Symlink(target, name))
}

func (h house) read(name string) (string, error) {
	body, err := afero.ReadFile(h.Jail, name)
	return string(body), err
}

func TestReadInside(t *testing.T) {
	h := newHouse(t, Options{})
	h.put(t, "root/f", "hi\n")
	h.put(t, "root/dir/deep/g", "deep\n")
	h.put(t, "root/other/h", "other\n")
	h.link(t, "f", "root/rel")
	h.link(t, h.root+"/f", "root/abs")
	h.link(t, "dir", "root/ldir")
	h.link(t, "..", "root/dir/up")
	h.link(t, "dir/deep", "root/down")
	h.link(t, "../root/f", "root/round")
	h.link(t, "rel", "root/chain")
	for _, tt := range []struct{ name, path, want string }{
		{"relative", "f", "hi\n"},
		{"absolute", h.root + "/f", "hi\n"},
		{"untidy", "./dir//../f", "hi\n"},
		{"link", "rel", "hi\n"},
		{"absolute link", "abs", "hi\n"},
		{"chain of links", "chain", "hi\n"},
		{"link to a directory", "ldir/deep/g", "deep\n"},
		{"link that climbs to the root", "dir/up/f", "hi\n"}, // FO-05
		{"link that leaves and comes back", "round", "hi\n"},
		{"up from where a link leads", "down/../up/f", "hi\n"},
		{"out and back in by name", h.root + "/../root/f", "hi\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := h.read(tt.path)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

// escapes are names that must lead nowhere, whatever is tried on them.
func (h house) escapes(t *testing.T) map[string]string {
	t.Helper()
	h.put(t, "out.txt", "SECRET\n")
	h.put(t, "root-evil/s.txt", "SECRET\n")
	h.put(t, "outdir/s.txt", "SECRET\n")
	h.put(t, "root/dir/x", "x")
	h.link(t, "../out.txt", "root/leak")
	h.link(t, h.base+"/out.txt", "root/leak-abs")
	h.link(t, "leak", "root/leak-chain")
	h.link(t, "../nowhere", "root/dangling-out")
	h.link(t, "../outdir", "root/d")
	h.link(t, "..", "root/parent")
	h.link(t, "../..", "root/dir/grandparent")
	h.link(t, "/proc/self/root", "root/magic")
	return map[string]string{
		"sibling with the root's name in front": h.base + "/root-evil/s.txt", // FO-01
		"its directory":                         h.base + "/root-evil",
		"link":                                  "leak", // FO-02
		"absolute link":                         "leak-abs",
		"chain":                                 "leak-chain",
		"dangling link out":                     "dangling-out",
		"new file through a linked directory":   "d/new.txt", // FO-03
		"old file through a linked directory":   "d/s.txt",
		"the directory":                         "d",
		"parent":                                "..", // FO-04
		"parent with a slash":                   "../",
		"parent through what is not there":      "./x/../../",
		"file beside the root":                  "../out.txt",
		"parent of the root":                    h.base,
		"link to the parent":                    "parent/out.txt",
		"link to the grandparent":               "dir/grandparent/out.txt",
		"magic link":                            "magic/etc/passwd",
		"system file":                           "/etc/passwd",
		"the top":                               "/",
		"up from a link":                        "dir/../../out.txt",
	}
}

func TestEscapesOnEveryOperation(t *testing.T) {
	h := newHouse(t, Options{})
	names := h.escapes(t)
	h.put(t, "root/mine", "mine")
	before := tree(t, h.base)
	follows := map[string]func(string) error{
		"open":   func(n string) error { _, err := h.Open(n); return err },
		"create": func(n string) error { _, err := h.Create(n); return err },
		"append": func(n string) error { _, err := h.OpenFile(n, os.O_APPEND|os.O_WRONLY, 0); return err },
		"stat":   func(n string) error { _, err := h.Stat(n); return err },
		"mkdir":  func(n string) error { return h.MkdirAll(n, 0o755) },
		"chmod":  func(n string) error { return h.Chmod(n, 0) },
		"chown":  func(n string) error { return h.Chown(n, 0, 0) },
		"times":  func(n string) error { return h.Chtimes(n, time.Time{}, time.Time{}) },
		"pin":    func(n string) error { _, _, err := h.PinDir(n); return err },
		"below":  func(n string) error { return h.Mkdir(n+"/new", 0o755) },
		"to":     func(n string) error { return h.Rename("mine", n+"/new") },
		"remove": func(n string) error { return h.Remove(n + "/new") },
		"new":    func(n string) error { return h.RenameNew("mine", n+"/new") },
		"link":   func(n string) error { return h.Link("mine", n+"/new") },
		"sym":    func(n string) error { return h.SymlinkIfPossible("mine", n+"/new") },
		"survey": func(n string) error { _, err := h.Survey(t.Context(), n+"/new"); return err },
		"tree":   func(n string) error { _, err := h.RemoveTree(t.Context(), n+"/new"); return err },
		"all":    func(n string) error { return h.RemoveAll(n + "/new") },
	}
	for name, path := range names {
		for op, try := range follows {
			t.Run(op+" "+name, func(t *testing.T) {
				err := try(path)
				require.ErrorIs(t, err, ErrEscape)
				require.ErrorIs(t, err, fs.ErrPermission)
			})
		}
	}
	require.Equal(t, before, tree(t, h.base), "nothing was touched")
}

// tree lists everything below dir with its mode and content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := info.Mode().String()
		if d.Type().IsRegular() {
			body, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			content += " " + string(body)
		}
		found[name] = content
		return nil
	}))
	return found
}

func TestLinkItselfIsInside(t *testing.T) {
	h := newHouse(t, Options{})
	h.put(t, "out.txt", "SECRET")
	h.link(t, "../out.txt", "root/leak")
	info, _, err := h.LstatIfPossible("leak")
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeSymlink)
	target, err := h.ReadlinkIfPossible("leak")
	require.NoError(t, err)
	require.Equal(t, "../out.txt", target)
	require.NoError(t, h.Remove("leak"))
	require.FileExists(t, h.base+"/out.txt")
}

func TestRootByTwoSpellings(t *testing.T) { // FO-07
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(base+"/root", 0o755))
	require.NoError(t, os.WriteFile(base+"/root/f", []byte("hi"), 0o644))
	require.NoError(t, os.Symlink(base+"/root", base+"/alias"))
	j, err := New(Options{Roots: []string{base + "/alias"}})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	for _, name := range []string{base + "/alias/f", base + "/root/f", "f", base + "/alias/./f", base + "/alias/../root/f"} {
		at, err := j.Resolve(name)
		require.NoError(t, err, name)
		require.Equal(t, base+"/root/f", at)
	}
	require.Equal(t, base+"/alias/sub/f", j.Abs(base+"/alias/sub", "f"))
	require.Equal(t, base+"/root/f", j.Abs("/", "f"), "a working directory outside does not count")
	require.Equal(t, base+"/root/f", j.Abs("", "f"))
}

func TestLinkFromRootToRoot(t *testing.T) {
	h := newHouse(t, Options{})
	h.put(t, "second/f", "two")
	h.link(t, h.base+"/second/f", "root/across")
	_, err := h.read("across")
	require.ErrorIs(t, err, ErrEscape)
	j, err := New(Options{Roots: []string{h.root}, ReadOnly: []string{h.base + "/second"}})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	body, err := afero.ReadFile(j, "across")
	require.NoError(t, err)
	require.Equal(t, "two", string(body))
	_, err = j.Create("across")
	require.ErrorIs(t, err, ErrReadOnly)
}

func TestReadOnly(t *testing.T) {
	h := newHouse(t, Options{})
	h.put(t, "root/vendor/f", "v")
	h.put(t, "root/vendor/open/g", "g")
	j, err := New(Options{Roots: []string{h.root, h.root + "/vendor/open"}, ReadOnly: []string{h.root + "/vendor"}})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	before := tree(t, h.base)
	for name, err := range map[string]error{
		"create": func() error { _, err := j.Create("vendor/n"); return err }(),
		"open":   func() error { _, err := j.OpenFile("vendor/f", os.O_RDWR, 0); return err }(),
		"mkdir":  j.Mkdir("vendor/d", 0o755),
		"all":    j.MkdirAll("vendor/d/e", 0o755),
		"remove": j.Remove("vendor/f"),
		"from":   j.Rename("vendor/f", "f"),
		"chmod":  j.Chmod("vendor/f", 0o600),
	} {
		require.ErrorIs(t, err, ErrReadOnly, name)
	}
	require.ErrorIs(t, j.RemoveAll("vendor"), ErrReadOnly)
	require.ErrorIs(t, h.RemoveAll(h.root), ErrRoot)
	require.Equal(t, before, tree(t, h.base))
	require.NoError(t, afero.WriteFile(j, "vendor/open/g", []byte("new"), 0o644), "the innermost root decides")
}

func TestRootsStay(t *testing.T) {
	h := newHouse(t, Options{})
	h.put(t, "root/a/inner/f", "x")
	j, err := New(Options{Roots: []string{h.root}, ReadOnly: []string{h.root + "/a/inner"}})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	require.ErrorIs(t, j.RemoveAll("a"), ErrRoot)
	require.ErrorIs(t, j.Rename("a", "b"), ErrRoot)
	require.ErrorIs(t, j.Remove("."), ErrRoot)
	require.FileExists(t, h.root+"/a/inner/f")
}

func TestChanges(t *testing.T) {
	h := newHouse(t, Options{})
	require.NoError(t, h.MkdirAll("a/b/c", 0o755))
	require.NoError(t, h.MkdirAll("a/b", 0o755))
	require.NoError(t, afero.WriteFile(h, "a/b/f", []byte("x"), 0o644))
	require.NoError(t, h.Rename("a/b/f", "a/g"))
	require.NoError(t, h.Chmod("a/g", 0o600))
	when := time.Unix(1e9, 0)
	require.NoError(t, h.Chtimes("a/g", when, when))
	info, err := h.Stat("a/g")
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode())
	require.True(t, when.Equal(info.ModTime()))
	require.NoError(t, h.Chown("a/g", os.Getuid(), os.Getgid()))
	require.NoError(t, h.RemoveAll("a"))
	require.NoDirExists(t, h.root+"/a")
	require.ErrorIs(t, h.Remove("a"), fs.ErrNotExist)

	other := newHouse(t, Options{Roots: []string{h.root}})
	h.put(t, "root/f", "x")
	require.Error(t, other.Rename(h.root+"/f", "f"), "another root is another device")
	require.FileExists(t, h.root+"/f")
}

func TestErrorsNameWhatTheCallerNamed(t *testing.T) {
	h := newHouse(t, Options{})
	h.put(t, "root/f", "x")
	for _, tt := range []struct {
		name, path string
		want       error
	}{
		{"missing", "no/such", fs.ErrNotExist},
		{"below a file", "f/x", nil},
		{"NUL", "a\x00b", fs.ErrInvalid},
		{"endless", strings.Repeat("x", 5000), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := h.Open(tt.path)
			var p *fs.PathError
			require.ErrorAs(t, err, &p)
			require.Equal(t, tt.path, p.Path)
			require.NotContains(t, err.Error(), h.base)
			if tt.want != nil {
				require.ErrorIs(t, err, tt.want)
			}
		})
	}
}

func TestLinkLoop(t *testing.T) {
	h := newHouse(t, Options{})
	h.link(t, "b", "root/a")
	h.link(t, "a", "root/b")
	_, err := h.Open("a")
	require.ErrorContains(t, err, "too many levels of symbolic links")
}

// The error of an os.Root for an escape has no name to compare with; this fails
// when its text changes.
func TestEscapeOfOSRootIsKnown(t *testing.T) {
	h := newHouse(t, Options{})
	_, err := h.roots[0].handle.Open("../x")
	require.ErrorIs(t, failure("open", "x", err), ErrEscape)
}

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	for _, tt := range []struct {
		name    string
		options Options
		says    string
	}{
		{"nothing", Options{}, "at least one root"},
		{"relative", Options{Roots: []string{"x"}}, "not an absolute path"},
		{"missing", Options{Roots: []string{dir + "/none"}}, "no such file"},
		{"a file", Options{Roots: []string{dir}, ReadOnly: []string{file}}, "not a directory"},
		{"a bad pattern", Options{Roots: []string{dir}, Deny: []string{"[a"}}, `"[a" is malformed`},
		{"an empty pattern", Options{Roots: []string{dir}, Deny: []string{"!"}}, "malformed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(tt.options)
			require.ErrorContains(t, err, tt.says)
		})
	}
	var root *RootError
	_, err := New(Options{Roots: []string{dir}, ReadOnly: []string{file}})
	require.True(t, errors.As(err, &root))
	require.True(t, root.ReadOnly)
}

func TestTruncateOnlyWhatWasMeant(t *testing.T) {
	h := newHouse(t, Options{})
	h.put(t, "root/f", "long content")
	f, err := h.Create("f")
	require.NoError(t, err)
	_, err = io.WriteString(f, "new")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	got, err := h.read("f")
	require.NoError(t, err)
	require.Equal(t, "new", got)
}

// When another directory gets the name of a root, or none has it, nothing is
// said or done about the one that had it.
func TestRootThatGoesAway(t *testing.T) {
	h := newHouse(t, Options{})
	h.put(t, "root/f", "old")
	pinned, release, err := h.PinDir(h.root)
	require.NoError(t, err)
	defer func() { require.NoError(t, release()) }()
	require.NoError(t, os.Rename(h.root, h.base+"/aside"))
	for _, there := range []bool{false, true} {
		if there {
			h.put(t, "root/f", "new")
		}
		_, err := h.Open("f")
		require.ErrorIs(t, err, ErrGone)
		require.ErrorIs(t, afero.WriteFile(h, "g", nil, 0o644), ErrGone)
		_, err = h.OpenDir(h.root)
		require.ErrorIs(t, err, ErrGone)
		require.ErrorIs(t, h.MkdirAll("d", 0o755), ErrGone)
	}
	body, err := afero.ReadFile(pinned, h.root+"/f")
	require.NoError(t, err)
	require.Equal(t, "old", string(body), "what is pinned stays what it was")
	require.NoError(t, os.RemoveAll(h.root))
	require.NoError(t, os.Rename(h.base+"/aside", h.root))
	_, err = h.Open("f")
	require.NoError(t, err)
}
