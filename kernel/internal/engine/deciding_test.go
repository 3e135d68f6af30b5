package engine

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where git keeps a repository's configuration and hooks is what git itself says.
func TestGitFolders(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.org"}, args...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	main, tree, apart := filepath.Join(dir, "main"), filepath.Join(dir, "tree"), filepath.Join(dir, "apart")
	git("init", "-q", main)
	git("-C", main, "commit", "-q", "--allow-empty", "-m", "x")
	git("-C", main, "worktree", "add", "-q", tree)
	git("init", "-q", "--separate-git-dir", filepath.Join(dir, "store"), apart)
	common := filepath.Join(main, ".git")
	for root, want := range map[string][]string{
		main: {common}, filepath.Join(main, "sub", "folder"): {common}, dir: nil,
		tree:                                    {filepath.Join(tree, ".git"), filepath.Join(common, "worktrees", "tree"), common},
		apart:                                   {filepath.Join(apart, ".git"), filepath.Join(dir, "store")},
		filepath.Join(common, "worktrees/tree"): nil,
	} {
		require.Equal(t, want, gitFolders(root), root)
	}
	require.Subset(t, deciding(tree), []string{common, filepath.Join(tree, ".mcp.json"), filepath.Join(tree, ".vscode")})
}
