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
		{"plain", fields{"command": "touch made\nls"}, []string{"code(sh): touch made\nls", "in " + h.Dir}},
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
			[]string{"code(): a\nb", "done in 1.2s, 2 lines"}},
		{"the summary stands higher up", fields{"exit_code": 0, "summary": "b = [", "output": "a\n  b = [\n]\n", "output_bytes": 12, "duration_ms": 12},
			[]string{"code(): a\n  b = [\n]", "done in 12ms, 3 lines"}},
		{"one line, of punctuation", fields{"exit_code": 0, "summary": ".", "output": ".\n", "output_bytes": 2, "duration_ms": 21},
			[]string{"code(): .", "done in 21ms, 1 line"}},
		{"nothing", fields{"exit_code": 0, "summary": "no output", "output": "", "output_bytes": 0, "duration_ms": 21},
			[]string{"done in 21ms, no output"}},
		{"blank", fields{"exit_code": 0, "summary": "2 bytes of output, all blank", "output": "\n\n", "output_bytes": 2, "duration_ms": 21},
			[]string{"code(): \n", "done in 21ms, 2 lines"}},
		{"cut, and no file of it", fields{"exit_code": 0, "summary": "z", "output": "a\n...\nz\n", "output_bytes": 99999, "duration_ms": 5},
			[]string{"code(): a\n...\nz", "done in 5ms, 99999 bytes"}},
		{"failure, its line stands above", fields{"exit_code": 2, "summary": "no x", "output": "try\nno x\n", "output_bytes": 9, "duration_ms": 8},
			[]string{"code(): try\nno x", "exit code 2 after 8ms, 2 lines"}},
		{"failure, its line stands higher up", fields{"exit_code": 2, "summary": "error: no x", "output": "error: no x\nhelp: y\n", "output_bytes": 20, "duration_ms": 8},
			[]string{"code(): error: no x\nhelp: y", "exit code 2 after 8ms: error: no x"}},
		{"signal", fields{"exit_code": 137, "signal": "SIGKILL", "summary": "killed by SIGKILL: a", "output": "a\n", "output_bytes": 2, "duration_ms": 3},
			[]string{"code(): a", "killed by SIGKILL after 3ms, 1 line"}},
		{"tests passed", fields{"exit_code": 0, "summary": "2 packages passed", "output": "ok  \ta\nok  \tb\n", "output_bytes": 12, "duration_ms": 30},
			[]string{"code(): ok  \ta\nok  \tb", "done in 30ms: 2 packages passed"}},
		{"failure, silent", fields{"exit_code": 1, "summary": "exit code 1, no output", "output": "", "output_bytes": 0, "duration_ms": 8},
			[]string{"exit code 1 after 8ms, no output"}},
		{"failure, output kept", fields{"exit_code": 1, "summary": "1 package failed", "output": "x", "output_bytes": 99999, "output_path": "/tmp/o", "duration_ms": 5},
			[]string{"code(): x", "all 99999 bytes: /tmp/o", "exit code 1 after 5ms: 1 package failed"}},
		{"signal, silent", fields{"exit_code": 137, "signal": "SIGKILL", "summary": "killed by SIGKILL", "output": "", "output_bytes": 0, "duration_ms": 0},
			[]string{"killed by SIGKILL after 0s, no output"}},
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
