package jail

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

func TestDenyList(t *testing.T) {
	custom := []string{"secrets/", "/build/*.log", "docs/**/private", "!docs/a/private", "*.BAK"}
	for _, tt := range []struct {
		name     string
		patterns []string
		path     string
		want     bool
	}{
		{"environment", DefaultDeny, ".env", true},
		{"environment of a stage", DefaultDeny, "a/.env.production", true},
		{"example", DefaultDeny, "a/.env.example", false},
		{"not an environment", DefaultDeny, ".environment", false},
		{"another case", DefaultDeny, ".ENV", true},
		{"a letter that folds", DefaultDeny, "id_r\u017fa", true},
		{"a name composed in another way", []string{"caf\u00e9"}, "CAFE\u0301", true},
		{"a pattern composed in another way", []string{"cafe\u0301*"}, "caf\u00c9s", true},
		{"private key", DefaultDeny, "home/.ssh/id_ed25519", true},
		{"public key", DefaultDeny, "home/.ssh/id_ed25519.pub", false},
		{"certificate store", DefaultDeny, "tls/server.pem", true},
		{"below a denied directory", custom, "x/secrets/deep/file", true},
		{"from the root only", custom, "build/a.log", true},
		{"not deeper", custom, "x/build/a.log", false},
		{"any depth", custom, "docs/x/y/private", true},
		{"taken back", custom, "docs/a/private", false},
		{"pattern in capitals", custom, "x.bak", true},
		{"the root", []string{"*"}, ".", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, err := parseDeny(tt.patterns)
			require.NoError(t, err)
			require.Equal(t, tt.want, list.matches(tt.path))
		})
	}
}

func TestDenied(t *testing.T) {
	h := newHouse(t, Options{Deny: DefaultDeny})
	h.put(t, "root/.env", "TOKEN=1")
	h.put(t, "root/.env.example", "TOKEN=")
	h.put(t, "root/sub/key.pem", "KEY")
	h.put(t, "root/plain", "x")
	h.link(t, ".env", "root/innocent")
	h.link(t, "plain", "root/id_rsa")
	before := tree(t, h.base)
	for _, name := range []string{".env", "innocent", "sub/key.pem", "sub/../.env", "id_rsa", "new.pem"} {
		_, err := h.Open(name)
		require.ErrorIs(t, err, ErrDenied, name)
		_, err = h.Create(name)
		require.ErrorIs(t, err, ErrDenied, name)
		_, err = h.Stat(name)
		require.ErrorIs(t, err, ErrDenied, name)
	}
	require.ErrorIs(t, h.Rename("plain", ".env"), ErrDenied)
	require.ErrorIs(t, h.Remove(".env"), ErrDenied)
	require.Equal(t, before, tree(t, h.base))
	_, err := h.read(".env.example")
	require.NoError(t, err)
}

func TestDeniedIsUnlisted(t *testing.T) {
	h := newHouse(t, Options{Deny: []string{"hidden*"}})
	h.put(t, "root/hidden1", "")
	h.put(t, "root/hidden2", "")
	h.put(t, "root/seen", "")
	for name, list := range map[string]func(afero.File) ([]string, error){
		"Readdirnames": func(f afero.File) ([]string, error) { return f.Readdirnames(-1) },
		"one by one":   func(f afero.File) ([]string, error) { return f.Readdirnames(1) },
		"Readdir": func(f afero.File) ([]string, error) {
			infos, err := f.Readdir(-1)
			var names []string
			for _, i := range infos {
				names = append(names, i.Name())
			}
			return names, err
		},
		"ReadDir": func(f afero.File) ([]string, error) {
			entries, err := f.(fs.ReadDirFile).ReadDir(-1)
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return names, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := h.Open(".")
			require.NoError(t, err)
			defer func() { require.NoError(t, f.Close()) }()
			names, err := list(f)
			require.NoError(t, err)
			require.Equal(t, []string{"seen"}, names)
		})
	}
}

func TestPinnedDirectoryKeepsTheDenyList(t *testing.T) {
	h := newHouse(t, Options{Deny: []string{"sub/x"}})
	h.put(t, "root/sub/x", "")
	h.put(t, "root/sub/y", "")
	pinned, release, err := h.PinDir("sub")
	require.NoError(t, err)
	defer func() { require.NoError(t, release()) }()
	_, err = pinned.Open(h.root + "/sub/x")
	require.ErrorIs(t, err, ErrDenied)
	require.NoError(t, os.Rename(h.root+"/sub", h.root+"/moved"))
	f, err := pinned.Open(h.root + "/sub/y")
	require.NoError(t, err, "a pinned directory is the same wherever it goes")
	require.NoError(t, f.Close())
}

func TestDenyListLetsOwnFilesBeMade(t *testing.T) {
	h := newHouse(t, Options{Deny: []string{".*"}, Own: func(base string) bool { return base == ".own" }})
	h.put(t, "root/.git/x", "")
	require.NoError(t, h.Mkdir("dir", 0o755))
	require.NoError(t, afero.WriteFile(h.Jail, "dir/.own", nil, 0o644))
	_, err := h.Create("dir/.other")
	require.ErrorIs(t, err, ErrDenied)
	_, err = h.Create(".git/.own")
	require.ErrorIs(t, err, ErrDenied, "what lies below a denied directory is denied")
	names, err := afero.ReadDir(h.Jail, "dir")
	require.NoError(t, err)
	require.Empty(t, names, "hidden all the same")
}

// A root may lie in a directory that another root denies.
func TestUpFromAnInnerRootIsDenied(t *testing.T) {
	base := t.TempDir()
	inner := filepath.Join(base, "secret", "inner")
	require.NoError(t, os.MkdirAll(inner, 0o755))
	j, err := New(Options{Roots: []string{base, inner}, Deny: []string{"secret"}})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	_, err = j.Stat(inner)
	require.NoError(t, err)
	for _, name := range []string{"/..", "/../inner/..", "/../x"} {
		_, err = j.Stat(inner + name)
		require.ErrorIs(t, err, ErrDenied, name)
	}
}
