package assistant

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever file install writes is one of those that are guarded, or in one.
func TestDecidingHoldsEveryFile(t *testing.T) {
	for _, project := range []string{"/p", "/home/me", "/home/me/.codex/worktrees/p", "/home/me/.claude/worktrees/p", "/p/.cursor/w"} {
		for _, system := range []string{"linux", "darwin"} {
			for _, set := range []string{"", "/elsewhere"} {
				p := Places{Project: project, Home: "/home/me", System: system, Getenv: func(string) string { return set }}
				deciding := Deciding(p)
				for _, client := range Clients() {
					for _, scope := range client.Scopes {
						require.True(t, guarded(deciding, client.File(p, scope)), "%s of %s in %s", scope, client.Name, project)
					}
				}
				require.True(t, guarded(deciding, filepath.Join(project, ".claude", "settings.local.json")))
				require.True(t, guarded(deciding, filepath.Join(project, ".vscode", "tasks.json")))
				require.False(t, guarded(deciding, filepath.Join(project, "main.go")), "%s", project)
			}
		}
	}
}

func TestDecidingWithoutHome(t *testing.T) {
	for _, path := range Deciding(Places{Project: "/p", System: "linux", Getenv: func(string) string { return "" }}) {
		require.True(t, strings.HasPrefix(path, "/p/"), path)
	}
}

func guarded(folders []string, path string) bool {
	for _, folder := range folders {
		if path == folder || strings.HasPrefix(path, folder+"/") {
			return true
		}
	}
	return false
}
