//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
)

// plain writes a tree down as lines, to compare.
func plain(n *renderv1.RenderNode) (lines []string) {
	for _, child := range n.GetGroup().GetChildren() {
		lines = append(lines, plain(child)...)
	}
	if c := n.GetCodeBlock(); c != nil {
		lines = append(lines, "code("+c.GetLanguage()+"): "+c.GetContent())
	}
	if c := n.GetTable(); c != nil {
		lines = append(lines, strings.Join(c.GetHeaders(), " | "))
		for _, row := range c.GetRows() {
			lines = append(lines, strings.Join(row.GetCells(), " | "))
		}
	}
	if c := n.GetText(); c != nil {
		lines = append(lines, c.GetContent())
	}
	return lines
}

func TestPreview(t *testing.T) {
	h := start(t, nil)
	for _, c := range []struct {
		name      string
		arguments fields
		want      []string
	}{
		{"plain", fields{"command": "touch made\nls"}, []string{"code(sh): touch made\nls", "in " + h.Dir + ", for at most 2m0s"}},
		{"everything", fields{"command": "cat > made", "stdin": "text", "description": "Make it", "timeout_ms": 1500, "cwd": "."},
			[]string{"Make it", "code(sh): cat > made", "with this on its standard input:", "code(): text", "in " + h.Dir + ", for at most 1.5s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.arguments["cwd"] = h.Dir
			tree, err := h.Preview(t.Context(), "bash", c.arguments)
			require.NoError(t, err)
			require.Equal(t, c.want, plain(tree.GetRoot()))
			require.NoFileExists(t, h.Dir+"/made")
		})
	}
}

func TestRender(t *testing.T) {
	h := start(t, nil)
	for _, c := range []struct {
		name    string
		payload fields
		want    []string
	}{
		{"success", fields{"exit_code": 0, "summary": "b", "output": "a\nb\n", "output_bytes": 4, "duration_ms": 1200},
			[]string{"code(): a\nb", "done in 1.2s"}},
		{"tests passed", fields{"exit_code": 0, "summary": "2 packages passed", "output": "ok  \ta\nok  \tb\n", "output_bytes": 12, "duration_ms": 30},
			[]string{"code(): ok  \ta\nok  \tb", "done in 30ms: 2 packages passed"}},
		{"failure, silent", fields{"exit_code": 1, "summary": "exit code 1, no output", "output": "", "output_bytes": 0, "duration_ms": 8},
			[]string{"exit code 1 after 8ms, no output"}},
		{"failure, output kept", fields{"exit_code": 1, "summary": "1 package failed", "output": "x", "output_bytes": 99999, "output_path": "/tmp/o", "duration_ms": 5},
			[]string{"code(): x", "all 99999 bytes: /tmp/o", "exit code 1 after 5ms: 1 package failed"}},
		{"signal, silent", fields{"exit_code": 137, "signal": "SIGKILL", "summary": "killed by SIGKILL", "output": "", "output_bytes": 0, "duration_ms": 0},
			[]string{"killed by SIGKILL after 0s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, err := h.Render(t.Context(), c.payload)
			require.NoError(t, err)
			require.Equal(t, c.want, plain(tree.GetRoot()))
		})
	}
	r := run(t, h, "echo hello")
	tree, err := h.Render(t.Context(), r.Result)
	require.NoError(t, err)
	require.Equal(t, "code(): hello", plain(tree.GetRoot())[0])
}
