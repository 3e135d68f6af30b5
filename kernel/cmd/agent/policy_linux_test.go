package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAlways plays a person who does not want to be asked again: what is written is what was shown, and nothing wider.
func TestAlways(t *testing.T) {
	const ask = "Go ahead? [y/N] "
	const add = "Add this to agent.hcl, and go ahead? [y/N] "
	const edit = `filesystem.write_file path=docs/new.txt content=hello`
	const change = "e: change the arguments first\n"
	const offer = "a: yes, and always, by a policy for filesystem.write_file path=docs/*\n"
	const block = `
policy "allow-write_file" {
  match = {
    provider  = "filesystem"
    tool_name = "write_file"
    arguments = {
      path = "docs/*"
    }
  }
  action = "allow"
}
`
	tests := []struct {
		name    string
		command string
		steps   []string
		want    []string
		exit    int
		added   string
	}{
		{"path", edit, []string{offer + ask, "a\n", add, "y\n"},
			[]string{`  +   action = "allow"`, "created docs/new.txt"}, 0, block},
		{"whole word", edit, []string{ask, "ALWAYS\n", add, "yes\n"}, nil, 0, block},
		{"not after all", edit, []string{ask, "a\n", add, "n\n", "n\n" + change + offer + ask, "n\n"}, []string{"denied"}, 3, ""},
		{"once after all", edit, []string{ask, "a\n", add, "\n", "\n" + change + offer + ask, "y\n"}, nil, 0, ""},
		{"left", edit, []string{ask, "a\n", add, "\x03"}, []string{"cancelled"}, 130, ""},
		{"command", `bash.bash command='git status -s'`, []string{"by a policy for bash.bash git status *\n" + ask, "a\n", add, "y\n"}, nil, 0, `
policy "allow-bash" {
  match = {
    provider  = "bash"
    tool_name = "bash"
    command   = ["git status *"]
  }
  action = "allow"
}
`},
		{"not offered", `bash.bash command='git status > x'`, []string{ask, "a\n", "there is nothing to grant for this", "", ask, "n\n"}, []string{"denied"}, 3, ""},
		{"a session of one call", edit, []string{ask, "s\n", "there is nothing to grant for this, since no call follows", "", ask, "y\n"}, []string{"created docs/new.txt"}, 0, ""},
		{"a word that is no answer", edit, []string{ask, "sure\n"}, []string{`"sure" is none of the answers, so it is a no`, "denied"}, 3, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := projectDir(t)
			require.NoError(t, os.Mkdir(filepath.Join(dir, "docs"), 0o755))
			require.NoError(t, exec.Command("git", "init", "-q", dir).Run())
			file := filepath.Join(dir, "agent.hcl")
			before, err := os.ReadFile(file)
			require.NoError(t, err)
			p := startOnTerminal(t, dir, "exec agent invoke "+tt.command)
			play(t, p, tt.steps)
			require.Equal(t, tt.exit, p.exitCode(t), p.screen())
			for _, want := range tt.want {
				require.Contains(t, p.screen(), want)
			}
			after, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(before)+tt.added, string(after))
			if tt.added == "" {
				return
			}
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "docs", "new.txt")))
			again := startOnTerminal(t, dir, "exec agent invoke "+tt.command+" --json")
			require.Equal(t, 0, again.exitCode(t), again.screen())
			require.NotContains(t, again.screen(), ask)
			require.Contains(t, again.screen(), `"decided_by":"policy \"allow-`)
		})
	}
}
