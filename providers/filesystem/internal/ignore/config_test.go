package ignore

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// What a configuration file says is what git says it says.
func TestConfigAgreesWithGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for name, body := range map[string]string{
		"plain":            "[core]\n\texcludesFile = /a/b\n",
		"another spelling": "[CORE]\nEXCLUDESFILE=/a/b\n",
		"home":             "[core]\nexcludesfile = ~/x\n",
		"quotes":           "[core]\n excludesfile = \"/a b \" ; comment\n",
		"comment":          "[core]\n excludesfile = /a b  # comment\n",
		"escapes":          `[core]` + "\n" + `excludesfile = "/a\"b\\c"` + "\n",
		"quotes inside":    "[core]\nexcludesfile = /a\" b \"c\n",
		"on the same line": "[core] excludesfile = /a\n",
		"continued":        "[core]\nexcludesfile = /a\\\nb\n",
		"the last one":     "[core]\nexcludesfile = /a\n[user]\nname = x\n[core]\nexcludesfile = /b\n",
		"other sections":   "[core \"x\"]\nexcludesfile = /a\n[corex]\nexcludesfile = /b\n",
		"comments":         "# [core]\n; x\n[core]\n# excludesfile = /a\nexcludesfile = /b\n",
		"included":         "[include]\npath = more\n",
		"CR LF":            "[core]\r\nexcludesfile = /a\r\n",
		"nothing":          "",
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			file := filepath.Join(home, ".gitconfig")
			put(t, file, body)
			put(t, filepath.Join(home, "more"), "[core]\nexcludesFile = /from/more\n")
			cmd := exec.Command("git", "config", "--file", file, "--includes", "--type=path", "core.excludesFile")
			cmd.Env = append(os.Environ(), "HOME="+home)
			out, _ := cmd.Output() // nothing is set: it fails
			var got Config
			(&configReader{home: home, read: os.ReadFile, into: &got}).file(file)
			require.Equal(t, strings.TrimSuffix(string(out), "\n"), got.ExcludesFile)
		})
	}
	for value, want := range map[string]bool{" = true": true, "": true, " = Yes": true, " = on": true, " = 1": true, " = false": false, " = off": false, " = ": false} {
		var got Config
		(&configReader{into: &got, read: func(string) ([]byte, error) { return []byte("[core]\nignorecase" + value + "\n"), nil }}).file("x")
		require.Equal(t, want, got.IgnoreCase, value)
	}
}

func TestConfigThatIncludesItselfEnds(t *testing.T) {
	var got Config
	(&configReader{into: &got, read: func(string) ([]byte, error) {
		return []byte("[core]\nexcludesfile = /x\n[include]\npath = /itself\n"), nil
	}}).file("/itself")
	require.Equal(t, "/x", got.ExcludesFile)
}

func TestUserConfig(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	require.Equal(t, home+"/.config/git/ignore", UserConfig().ExcludesFile)
	put(t, home+"/.config/git/config", "[core]\nexcludesFile = ~/one\n")
	require.Equal(t, home+"/one", UserConfig().ExcludesFile)
	put(t, home+"/.gitconfig", "[core]\nexcludesFile = ~/two\n")
	require.Equal(t, home+"/two", UserConfig().ExcludesFile)
	put(t, home+"/two", "*.log\n")
	rules := NewTree(afero.NewMemMapFs(), UserConfig()).Above("/any")
	require.True(t, rules.Ignored("/any", "x.log", false))
	require.False(t, rules.Ignored("/any", "x", false))
}

// A linked working tree shares the rules of its repository.
func TestLinkedWorkingTree(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	for _, a := range [][]string{
		{"init", "-q", "main"},
		{"-C", "main", "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "--allow-empty", "-m", "x"},
		{"-C", "main", "worktree", "add", "-q", "../linked"},
	} {
		cmd := exec.Command("git", a...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	put(t, dir+"/main/.git/info/exclude", "*.bak\n")
	tree := NewTree(afero.NewOsFs(), Config{})
	require.True(t, tree.Enter(nil, dir+"/linked", true, nil).Ignored(dir+"/linked", "x.bak", false))
}

// Asking about a file costs little even where there are many rules.
func BenchmarkIgnored(b *testing.B) {
	body := strings.Repeat("node_modules/\n*.log\n/build\nsrc/**/gen\n*.py[cod]\n.idea\n!keep.log\n", 20)
	rules := (*Rules)(nil).with("/r", []byte(body), false)
	for b.Loop() {
		if rules.Ignored("/r/src/deep/er", "main.go", false) {
			b.Fatal("ignored")
		}
	}
}
