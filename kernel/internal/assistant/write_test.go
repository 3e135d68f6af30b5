package assistant

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplace(t *testing.T) {
	t.Run("a new file, and its folder", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), ".cursor", "mcp.json")
		require.NoError(t, Replace(path, nil, []byte("new"), 0o600))
		requireFile(t, path, "new", 0o600)
	})
	t.Run("the mode is kept", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "mcp.json")
		require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
		require.NoError(t, os.Chmod(path, 0o640))
		require.NoError(t, Replace(path, []byte("old"), []byte("new"), 0o600))
		requireFile(t, path, "new", 0o640)
	})
	t.Run("a link stays one", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "dotfiles"), 0o755))
		kept := filepath.Join(dir, "dotfiles", "settings.json")
		require.NoError(t, os.WriteFile(kept, []byte("old"), 0o644))
		link := filepath.Join(dir, "settings.json")
		require.NoError(t, os.Symlink("dotfiles/settings.json", link))
		require.NoError(t, Replace(link, []byte("old"), []byte("new"), 0o600))
		requireFile(t, kept, "new", 0o644)
		target, err := os.Readlink(link)
		require.NoError(t, err)
		require.Equal(t, "dotfiles/settings.json", target)
	})
	t.Run("links in a circle", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "loop")
		require.NoError(t, os.Symlink("loop", path))
		require.ErrorContains(t, Replace(path, nil, []byte("new"), 0o600), "too many links")
	})
	t.Run("what somebody else wrote stays", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "mcp.json")
		require.NoError(t, os.WriteFile(path, []byte("theirs"), 0o600))
		require.ErrorIs(t, Replace(path, []byte("old"), []byte("new"), 0o600), ErrChanged)
		requireFile(t, path, "theirs", 0o600)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, left, 1, "no half-written file is left")
	})
}

func requireFile(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, content, string(got))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, mode, info.Mode().Perm())
}

func TestFiles(t *testing.T) {
	env := map[string]string{}
	p := Places{Project: "/src/app", Home: "/home/me", System: "linux", Getenv: func(name string) string { return env[name] }}
	mac, windows := p, p
	mac.System, windows.System = "darwin", "windows"
	for _, test := range []struct {
		client string
		scope  Scope
		places Places
		want   string
	}{
		{"claude", Project, p, "/src/app/.mcp.json"},
		{"claude", User, p, "/home/me/.claude.json"},
		{"claude-desktop", User, p, "/home/me/.config/Claude/claude_desktop_config.json"},
		{"claude-desktop", User, mac, "/home/me/Library/Application Support/Claude/claude_desktop_config.json"},
		{"codex", User, p, "/home/me/.codex/config.toml"},
		{"codex", Project, p, "/src/app/.codex/config.toml"},
		{"gemini", Project, p, "/src/app/.gemini/settings.json"},
		{"gemini", User, mac, "/home/me/.gemini/settings.json"},
		{"vscode", Project, p, "/src/app/.vscode/mcp.json"},
		{"vscode", User, mac, "/home/me/Library/Application Support/Code/User/mcp.json"},
		{"vscode", User, windows, "/home/me/AppData/Roaming/Code/User/mcp.json"},
		{"cursor", User, p, "/home/me/.cursor/mcp.json"},
		{"zed", User, mac, "/home/me/.config/zed/settings.json"},
		{"zed", User, windows, "/home/me/AppData/Roaming/Zed/settings.json"},
		{"zed", Project, p, "/src/app/.zed/settings.json"},
	} {
		require.Equal(t, filepath.FromSlash(test.want), Find(test.client).File(test.places, test.scope), "%s %s", test.client, test.places.System)
	}
	env["CODEX_HOME"], env["XDG_CONFIG_HOME"], env["CLAUDE_CONFIG_DIR"] = "/etc/codex", "/xdg", "relative"
	require.Equal(t, "/etc/codex/config.toml", Find("codex").File(p, User))
	require.Equal(t, "/xdg/zed/settings.json", Find("zed").File(p, User))
	require.Equal(t, "/home/me/.claude.json", Find("claude").File(p, User), "a relative folder is none")
}
