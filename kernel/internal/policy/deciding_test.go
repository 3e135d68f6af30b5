package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

// An allow of changes does not let a call change what it is allowed by.
func TestDecidingFilesAreAskedAbout(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	linked := filepath.Join(root, ".mcp.json")
	guard := NewGuard(filepath.Join(home, "agent"), linked, filepath.Join(root, ".git"))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "docs"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "agent.hcl"), nil, 0o600))
	for link, target := range map[string]string{"docs/rules": "../agent.hcl", "docs/up": "..", "docs/lock": "../.agent/agent.lock.hcl", "docs/git": "../.git",
		".git": "elsewhere", filepath.Base(linked): filepath.Join(home, "dotfiles", "mcp.json")} {
		require.NoError(t, os.Symlink(target, filepath.Join(root, link)))
	}
	edits := map[string]any{"files": []any{map[string]any{"path": "docs/a"}, map[string]any{"path": "agent.hcl"}}}
	tests := []struct {
		name string
		args map[string]any
		// naming are globs of a rule that names what is changed.
		naming map[string]string
		want   Action
	}{
		{"a file beside it", map[string]any{"path": "a.hcl"}, nil, Allow},
		{"the same name elsewhere", map[string]any{"path": "docs/agent.hcl"}, nil, Allow},
		{"text about it", map[string]any{"path": "a", "content": "agent.hcl\n"}, nil, Allow},
		{"where a command runs", map[string]any{"command": "ls", "cwd": "."}, nil, Allow},
		{"the rules", map[string]any{"path": "agent.hcl"}, nil, Ask},
		{"written otherwise", map[string]any{"path": "./docs/../agent.hcl"}, nil, Ask},
		{"absolute", map[string]any{"path": filepath.Join(root, "agent.hcl")}, nil, Ask},
		{"in capitals", map[string]any{"path": "Agent.HCL"}, nil, Ask},
		{"longer than a path may be", map[string]any{"path": strings.Repeat("./", 4096) + "agent.hcl"}, nil, Ask},
		{"behind a link", map[string]any{"path": "docs/rules"}, nil, Ask},
		{"behind a linked folder", map[string]any{"path": "docs/up/agent.hcl"}, nil, Ask},
		{"behind a link to nothing yet", map[string]any{"path": "docs/lock"}, nil, Ask},
		{"the lock", map[string]any{"path": ".agent/agent.lock.hcl"}, nil, Ask},
		{"all of the folder", map[string]any{"path": ".agent"}, nil, Ask},
		{"the folder that it is in", map[string]any{"path": "."}, nil, Ask},
		{"one above", map[string]any{"path": "../"}, nil, Ask},
		{"moved there", map[string]any{"source": "docs/a", "destination": "agent.hcl"}, nil, Ask},
		{"moved away", map[string]any{"source": "agent.hcl", "destination": "docs/a"}, nil, Ask},
		{"among several", edits, nil, Ask},
		{"by a name that says nothing", map[string]any{"target": "agent.hcl"}, nil, Ask},
		{"what a user keeps", map[string]any{"path": filepath.Join(home, "agent", "config.hcl")}, nil, Ask},
		{"what git is configured by", map[string]any{"path": ".git/config"}, nil, Ask},
		{"a hook", map[string]any{"path": "./docs/../.git/hooks/pre-commit"}, nil, Ask},
		{"a hook, in capitals", map[string]any{"path": ".GIT/hooks/pre-commit"}, nil, Ask},
		{"a hook, behind a link", map[string]any{"path": "docs/git/hooks/pre-commit"}, nil, Ask},
		{"a hook, behind a link to what .git is", map[string]any{"path": "elsewhere/hooks/pre-commit"}, nil, Ask},
		{"another repository's", map[string]any{"path": "docs/lib/.git/config"}, nil, Ask},
		{"another repository's, outside", map[string]any{"path": "../lib/.git/config"}, nil, Ask},
		{"the file of a submodule", map[string]any{"path": "docs/lib/.git"}, nil, Ask},
		{"moved to be git's", map[string]any{"source": "docs/a", "destination": "docs/.git"}, nil, Ask},
		{"what git only ignores by", map[string]any{"path": ".gitignore"}, nil, Allow},
		{"a folder that is called alike", map[string]any{"path": "docs/a.git/config"}, nil, Allow},
		{"text about git", map[string]any{"path": "a", "content": "see .git/config\n"}, nil, Allow},
		{"a client's, linked to", map[string]any{"path": filepath.Join(home, "dotfiles", "mcp.json")}, nil, Ask},
		{"a hook, named", map[string]any{"path": "docs/lib/.git/hooks/pre-commit"}, map[string]string{"path": "docs/lib/.git/hooks/pre-commit"}, Allow},
		{"hooks, named by a pattern", map[string]any{"path": "docs/lib/.git/hooks/pre-commit"}, map[string]string{"path": "docs/lib/.git/hooks/*"}, Ask},
		{"named", map[string]any{"path": "agent.hcl"}, map[string]string{"path": "agent.hcl"}, Allow},
		{"named, behind a link", map[string]any{"path": "docs/rules"}, map[string]string{"path": "docs/rules"}, Ask},
		{"named in some folder", map[string]any{"path": "./agent.hcl"}, map[string]string{"path": "**/agent.hcl"}, Allow},
		{"named by a pattern", map[string]any{"path": "agent.hcl"}, map[string]string{"path": "*.hcl"}, Ask},
		{"named by braces", map[string]any{"path": "agent.hcl"}, map[string]string{"path": "{agent,x}.hcl"}, Ask},
		{"its folder named", map[string]any{"path": ".agent/x"}, map[string]string{"path": ".agent/**"}, Ask},
		{"named as another argument", map[string]any{"source": "docs/a", "destination": "agent.hcl"}, map[string]string{"source": "docs/a"}, Ask},
		{"named as this argument", map[string]any{"source": "docs/a", "destination": "agent.hcl"}, map[string]string{"destination": "agent.hcl"}, Allow},
		{"named, and others beside it", edits, map[string]string{"files.path": "{docs/a,agent.hcl}"}, Ask},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args, err := structpb.NewStruct(tt.args)
			require.NoError(t, err)
			c := Call{Provider: "p", Operation: "op", Kind: resource, Arguments: args, Place: Place{Root: root, Dir: root, Deciding: guard}}
			rules := []Rule{{Name: "edits are fine", Match: Match{Provider: "p"}, Action: Allow}}
			if tt.naming != nil {
				rules = append(rules, Rule{Name: "named", Match: Match{Provider: "p", Arguments: tt.naming}, Action: Allow})
			}
			s, err := New(rules)
			require.NoError(t, err)
			d, judged := s.Explain(c)
			require.Equal(t, tt.want, d.Action)
			if tt.want == Ask {
				require.Contains(t, d.By, "default: changes of files that decide what runs are asked about")
				require.Nil(t, d.Rule)
				require.False(t, judged[0].Won)
			}
			c.Kind = dataSource
			require.Equal(t, Allow, s.Decide(c).Action, "what only reads changes no rules")
			deny, err := New([]Rule{{Name: "no", Match: Match{Provider: "p"}, Action: Deny}})
			require.NoError(t, err)
			require.Equal(t, Deny, deny.Decide(c).Action)
		})
	}
}

// A project can be in what git keeps, as worktrees are in some places: only what is below it counts then.
func TestRootWithinGit(t *testing.T) {
	root := filepath.Join(t.TempDir(), ".git", "worktrees", "x")
	require.NoError(t, os.MkdirAll(root, 0o700))
	for path, want := range map[string]string{"a": "", ".git/config": ".git/config", "../../config": "../../config"} {
		args, err := structpb.NewStruct(map[string]any{"path": path})
		require.NoError(t, err)
		require.Equal(t, want, Call{Arguments: args, Place: Place{Root: root, Dir: root}}.DecidingFile())
	}
}
