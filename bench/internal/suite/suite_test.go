package suite

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/bench/internal/row"
	"github.com/agentco/agent/bench/internal/subject"
)

// TestRun measures the floors and bash on small inputs, by the table that real runs use.
func TestRun(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("measuring needs /proc")
	}
	dir := t.TempDir()
	fx, bin := filepath.Join(dir, "fx"), filepath.Join(dir, "bin")
	for _, name := range []string{"floorplugin", "floormcp"} {
		out, err := exec.Command("go", "build", "-o", filepath.Join(bin, name), "../../cmd/"+name).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	for path, text := range map[string]string{
		"files/4k.txt": strings.Repeat("0123456\n", 512), "files/1m.txt": "small\n", "src1k/a.go": "x", "src1k/b/c.go": "y", "src1k/b/d.txt": "z",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(fx, path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(fx, path), []byte(text), 0o644))
	}
	table, err := os.ReadFile("../../peers.json")
	require.NoError(t, err)
	peers, err := subject.ReadTable(table)
	require.NoError(t, err)
	s := &Suite{
		Vars:  subject.Vars{"fx": fx, "bin": bin, "home": dir, "npm": filepath.Join(dir, "none"), "PATH": os.Getenv("PATH")},
		Peers: peers, PeerNames: []string{"bare-mcp", "bare-chain", "bash", "official-fs"}, Scale: 0.01, Patience: time.Second, Say: func(text string) { t.Log(text) },
		Only: []string{"cold", "idle", "read4k", "edit4k", "glob1k", "true", "ttfb", "cancel_group", "cancel_setsid"},
	}
	rows, err := s.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]string{"official-fs": "it is not installed"}, rows.Skipped)
	for _, want := range []struct {
		subject, op string
		status      row.Status
	}{
		{"go-plugin", "cold", row.OK}, {"bare-mcp", "cold", row.OK}, {"bare-chain", "idle", row.OK},
		{"in-process", "read4k", row.OK}, {"go-plugin", "read4k", row.OK}, {"bare-chain", "read4k", row.OK}, {"bash", "read4k", row.OK},
		{"in-process", "edit4k", row.OK}, {"bare-mcp", "edit4k", row.OK},
		{"bare-mcp", "glob1k", row.Truncated}, // two of twenty
		{"bare-mcp", "true", row.OK}, {"bare-chain", "ttfb", row.OK},
		{"bare-chain", "cancel_group", row.OK}, {"bare-mcp", "cancel_setsid", row.Never},
	} {
		t.Run(want.op+" of "+want.subject, func(t *testing.T) {
			for _, r := range rows.Rows {
				if r.Subject == want.subject && r.Op == want.op {
					require.Equal(t, want.status, r.Status, r.Note)
					return
				}
			}
			require.Fail(t, "it was not measured")
		})
	}
}

func TestCancelledRunEndsEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "files"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "files/1m.txt"), []byte("x"), 0o644))
	s := &Suite{Vars: subject.Vars{"fx": dir, "bin": dir}, Say: func(string) {}}
	_, err := s.Run(ctx)
	require.Error(t, err)
}

func TestMarked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.txt")
	require.NoError(t, os.WriteFile(file, []byte("one\ntwo\nthree\n"), 0o644))
	path, err := marked(file, filepath.Join(t.TempDir(), "work"), "who", 5)
	require.NoError(t, err)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "one\ntwo\n\tx := MARK_5_\nthree\n", string(b))
}
