//nolint:staticcheck // roots are deprecated in the newest version, and there as long as clients have them
package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// The roots of a client, with the real providers: what the tools take for granted when they are told no folder is held to
// them, too, and the log has what was denied.
func TestMCPRoots(t *testing.T) {
	cmd := agentIn(t, "", "mcp", "--yes")
	sub := filepath.Join(cmd.Dir, "sub")
	require.NoError(t, os.MkdirAll(filepath.Join(sub, "deep"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(sub, "a.txt"), []byte("needle\n"), 0o644))
	require.NoError(t, os.Symlink("../agent.hcl", filepath.Join(sub, "link.hcl")))
	cmd.Stderr = t.Output()
	client := mcp.NewClient(&mcp.Implementation{Name: "assistant", Version: "1"}, nil)
	client.AddRoots(&mcp.Root{URI: "file://" + filepath.ToSlash(sub)})
	s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
	require.NoError(t, err)

	type args = map[string]any
	for _, test := range []struct {
		name, tool string
		args       args
		denied     bool
	}{
		{"a file", "filesystem_read_file", args{"path": "sub/a.txt"}, false},
		{"a file outside", "filesystem_read_file", args{"path": "agent.hcl"}, true},
		{"a link that leads outside", "filesystem_read_file", args{"path": "sub/link.hcl"}, true},
		{"a folder", "filesystem_list_directory", args{"path": "sub"}, false},
		{"the default folder", "filesystem_list_directory", args{}, true},
		{"a search", "filesystem_grep", args{"pattern": "needle", "path": "sub"}, false},
		{"a search where it begins by default", "filesystem_grep", args{"pattern": "needle"}, true},
		{"a pattern", "filesystem_glob", args{"pattern": "**/*.txt", "path": "sub"}, false},
		{"a pattern that stays within", "filesystem_glob", args{"pattern": "../*.txt", "path": "sub/deep"}, false},
		{"a pattern that leads outside", "filesystem_glob", args{"pattern": "../*.hcl", "path": "sub"}, true},
		{"a copy from outside", "filesystem_copy", args{"source": "agent.hcl", "destination": "sub/b.hcl"}, true},
		{"a copy", "filesystem_copy", args{"source": "sub/a.txt", "destination": "sub/b.txt"}, false},
		{"several edits, one outside", "filesystem_apply_edits", args{"files": []any{
			args{"path": "sub/b.txt", "content": "x"}, args{"path": "new.txt", "content": "x"}}}, true},
		{"a command where it runs by default", "bash_bash", args{"command": "ls"}, true},
		{"a command in a folder", "bash_bash", args{"command": "ls", "cwd": "sub"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: test.tool, Arguments: test.args})
			require.NoError(t, err)
			text := r.Content[0].(*mcp.TextContent).Text
			require.Equal(t, test.denied, r.IsError, text)
			if test.denied {
				require.Regexp(t, `^permission_denied: [^\n]* outside the roots of the client \(`, text)
			}
		})
	}
	require.NoFileExists(t, filepath.Join(sub, "b.hcl"))
	_, err = s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "changelog"})
	require.ErrorContains(t, err, "permission_denied: /changelog was not run: it is about the working directory")
	require.NoError(t, s.Close())
	show := exec.Command(cmd.Path, "session", "show", "last")
	show.Dir, show.Env = cmd.Dir, cmd.Env
	out, err := show.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "the roots of the client")
}
