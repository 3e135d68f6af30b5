package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// What docs/plans.md shows is right as it stands, in a copy of the example project.
func TestPlansDocument(t *testing.T) {
	text, err := os.ReadFile("../../../docs/plans.md")
	require.NoError(t, err)
	lists := regexp.MustCompile("(?s)```(?:hcl|json)\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.Len(t, lists, 2)
	base := agentIn(t, "")
	require.NoError(t, os.RemoveAll(base.Dir))
	require.NoError(t, os.CopyFS(base.Dir, os.DirFS("../../../examples/project")))
	for _, args := range [][]string{{"init", "-q"}, {"config", "user.name", "Ada"}, {"config", "user.email", "ada@example.org"}, {"add", "-A"}, {"commit", "-qm", "Start"}} {
		git := exec.Command("git", args...)
		git.Dir = base.Dir
		require.NoError(t, git.Run())
	}
	state := t.TempDir() // not in the project, which has to be clean for a release
	run := func(args ...string) string {
		cmd := exec.Command(base.Path, args...)
		cmd.Dir, cmd.Env = base.Dir, append(base.Env, "XDG_STATE_HOME="+filepath.Join(state, "state"))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	for i, list := range lists {
		file := filepath.Join(state, "list")
		require.NoError(t, os.WriteFile(file, []byte(list[1]), 0o644))
		saved := filepath.Join(state, "plan.json")
		shown := run("plan", file, "--out", saved)
		require.Contains(t, shown, "/release (release-tools) · risk high")
		if i == 0 {
			require.Contains(t, run("apply", saved), "3 calls: 3 done")
			require.Contains(t, run("invoke", "bash.bash", "--yes", "command=git tag -d v1.4.0 && git reset -q --hard HEAD^"), "v1.4.0")
			continue
		}
		require.Contains(t, run("apply", file, "--yes"), "2 calls: 2 done")
	}
}
