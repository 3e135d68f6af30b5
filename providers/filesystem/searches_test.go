package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/providers/filesystem/internal/ignore"
	"github.com/agentco/agent/sdk/sdktest"
)

func TestSearchesInMemory(t *testing.T) {
	p, files := inMemory(func() {})
	operations(p)
	h := sdktest.Start(t, p, args{"allowed_roots": []any{"/"}})
	h.Dir = "/work"
	for name, body := range map[string]string{"/work/a.go": "needle\n", "/work/b/c.go": "x\nneedle\n", "/work/b/d.txt": "needle\n"} {
		require.NoError(t, afero.WriteFile(files, name, []byte(body), 0o644))
	}
	require.ElementsMatch(t, []string{"a.go", "b/c.go"}, globbed(h.Call(t.Context(), "glob", args{"pattern": "**/*.go"}).Result))
	require.Equal(t, []string{"a.go:1:needle", "b/c.go:2:needle"}, grepped(h.Call(t.Context(), "grep", args{"pattern": "needle", "glob": "*.go", "mode": "content"}).Result))
	require.Equal(t, []string{"b/c.go"}, grepped(h.Call(t.Context(), "grep", args{"pattern": "needle", "path": "b/c.go"}).Result))
	require.Equal(t, []string{"a.go", "b", "b/c.go", "b/d.txt"}, entryNames(h.Call(t.Context(), "list_directory", args{"depth": 2}).Result))
}

// The rules that a user has for every tree hold, and real git is of one mind.
func TestSearchesFollowTheUsersRules(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	require.NoError(t, os.MkdirAll(home+"/git", 0o755))
	require.NoError(t, os.WriteFile(home+"/git/ignore", []byte("*.swp\n"), 0o644))
	w := newWorld(t, nil)
	cmd := exec.Command("git", "init", "-q", w.root)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	w.put("root/a.swp", "needle\n")
	w.put("root/a.bak", "needle\n")
	w.put("root/a", "needle\n")
	w.put("root/.git/info/exclude", "*.bak\n")
	require.Equal(t, []string{"a"}, grepped(w.must("grep", args{"pattern": "needle"})))
	require.Equal(t, ignore.UserConfig().ExcludesFile, home+"/git/ignore")
	cmd = exec.Command("git", "-C", w.root, "ls-files", "-o", "--exclude-standard")
	out, err = cmd.Output()
	require.NoError(t, err)
	require.Equal(t, "a\n", string(out))
}
