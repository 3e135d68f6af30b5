package subject

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// TestMain makes the binary a server of JSON-RPC when a test starts it as one.
func TestMain(m *testing.M) {
	if os.Getenv("SPEAK") != "" {
		speak(os.Stdin, os.Stdout)
		return
	}
	goleak.VerifyTestMain(m)
}

func TestVars(t *testing.T) {
	vars := Vars{"fx": "/in", "pid": "42", "old": "MARK_${i}_", "content": strings.Repeat("${i}", 100)}
	got := vars.Repetition(7)
	require.Equal(t, "MARK_7_", got["old"])
	require.Equal(t, vars["content"], got["content"], "what is in files is left alone")
	require.Equal(t, map[string]any{"a": "/in/x", "b": []any{"${none}", 42}, "n": 1.5},
		vars.PutIn(map[string]any{"a": "${fx}/x", "b": []any{"${none}", "${pid:int}"}, "n": 1.5}))
	require.Equal(t, []string{"cat", "/in"}, vars.PutAll([]string{"cat", "${fx}"}))
	require.NotContains(t, vars.With("new", "x"), "none")
	require.NotContains(t, vars, "new")
}

func TestReadTable(t *testing.T) {
	b, err := os.ReadFile("../../peers.json")
	require.NoError(t, err)
	peers, err := ReadTable(b)
	require.NoError(t, err)
	for _, p := range peers {
		require.Contains(t, []string{"mcp", "http", "rpc", "cli", "engine", "log"}, p.Kind, p.Name)
		for name, op := range p.Ops {
			require.NotEmpty(t, op.Steps, "%s of %s", name, p.Name)
		}
	}
	for _, test := range []struct{ name, json, want string }{
		{"no JSON", `[`, "unexpected end"},
		{"twice", `[{"name":"a"},{"name":"a"}]`, "two peers a"},
		{"the answers of nobody", `[{"name":"a","same":"b"},{"name":"b"}]`, `a answers as "b" does`},
		{"a pattern that is none", `[{"name":"a","ops":{"read":{"count":"("}}}]`, "read of a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ReadTable([]byte(test.json))
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestBatch(t *testing.T) {
	var seen []string
	f := &Functions{Called: "f", Has: map[string]Function{
		"say": func(_ context.Context, vars Vars, out func([]byte)) (string, error) {
			seen = append(seen, vars["word"])
			out([]byte("abc"))
			return "whole", nil
		},
		"fail": func(context.Context, Vars, func([]byte)) (string, error) { return "", errors.New("no") },
	}}
	require.True(t, f.Can("say"))
	require.False(t, f.Can("sing"))
	s, err := f.Batch(t.Context(), "say", Batch{N: 3, From: 10, Vars: Vars{"word": "w${i}"}})
	require.NoError(t, err)
	require.Equal(t, []string{"w10", "w11", "w12"}, seen)
	require.Len(t, s.Took, 3)
	require.Len(t, s.First, 3)
	require.Equal(t, "whole", s.Text)
	require.Equal(t, 3, s.Output)
	_, err = f.Batch(t.Context(), "fail", Batch{N: 3, Workers: 2})
	require.EqualError(t, err, "no")
}

func TestLimitEndsABatch(t *testing.T) {
	f := &Functions{Has: map[string]Function{"slow": func(context.Context, Vars, func([]byte)) (string, error) {
		<-time.After(2 * time.Millisecond)
		return "", nil
	}}}
	s, err := f.Batch(t.Context(), "slow", Batch{N: 1000, Limit: time.Millisecond})
	require.NoError(t, err)
	require.Len(t, s.Took, 1, "the one that ran is not cut off")
}

func TestCommandLine(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("hello"), 0o644))
	p := &Peer{Name: "sh", Kind: "cli", Ops: map[string]*Op{
		"read":  {Steps: []Step{{Argv: []string{"cat", "${path}"}}}},
		"poll":  {Steps: []Step{{Argv: []string{"sh", "-c", `echo x >> n; grep -c x n`}, Until: "^3", Pause: 1}}},
		"pid":   {Steps: []Step{{Argv: []string{"echo", "PID: 77"}, Capture: map[string]string{"pid": `PID: (\d+)`}}, {Argv: []string{"echo", "got ${pid}"}}}},
		"fails": {Steps: []Step{{Argv: []string{"cat", "missing"}}}},
	}}
	vars := Vars{"fx": dir, "path": filepath.Join(dir, "a"), "home": dir, "PATH": os.Getenv("PATH")}
	require.Empty(t, p.Missing(vars))
	x, err := p.Dial(t.Context(), vars)
	require.NoError(t, err)
	for _, test := range []struct{ op, want string }{{"read", "hello"}, {"poll", "3\n"}, {"pid", "got 77\n"}} {
		s, err := x.Batch(t.Context(), test.op, Batch{N: 1, Vars: vars})
		require.NoError(t, err, test.op)
		require.Equal(t, test.want, s.Text)
	}
	_, err = x.Batch(t.Context(), "fails", Batch{N: 1, Vars: vars})
	require.ErrorContains(t, err, "missing")
	s, err := x.Batch(t.Context(), "read", Batch{N: 1, Vars: vars.With("streams", "yes")})
	require.NoError(t, err)
	require.Equal(t, 5, s.Output)
	require.Len(t, s.First, 1)
}

func TestMissing(t *testing.T) {
	for _, test := range []struct {
		name string
		peer Peer
		want string
	}{
		{"a file", Peer{Needs: "${npm}/none"}, "it is not installed"},
		{"a program", Peer{Kind: "cli", Ops: map[string]*Op{"x": {Steps: []Step{{Argv: []string{"no-such-program"}}}}}}, "no-such-program is not on this machine"},
		{"nothing", Peer{Kind: "mcp"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, test.peer.Missing(Vars{"npm": t.TempDir()})) })
	}
}

// served builds a command of this module.
func served(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	out, err := exec.Command("go", "build", "-o", path, "../../cmd/"+name).CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

func TestServer(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("hello"), 0o644))
	run := &Op{Steps: []Step{{Tool: "run", Args: map[string]any{"command": "${cmd}"}}}}
	p := &Peer{Name: "floor", Kind: "mcp", Command: []string{served(t, "floormcp"), "-plugin", served(t, "floorplugin")}, Ops: map[string]*Op{
		"read": {Steps: []Step{{Tool: "read", Args: map[string]any{"path": "${path}"}}}}, "run": run,
	}}
	vars := Vars{"fx": dir, "path": filepath.Join(dir, "a"), "home": dir, "PATH": os.Getenv("PATH")}
	took, tools, err := p.Cold(t.Context(), vars)
	require.NoError(t, err)
	require.Positive(t, took)
	require.Equal(t, 7, tools)
	x, err := p.Dial(t.Context(), vars)
	require.NoError(t, err)
	defer x.Close()
	s, err := x.Batch(t.Context(), "read", Batch{N: 20, Workers: 4, Vars: vars})
	require.NoError(t, err)
	require.Equal(t, "hello", s.Text)
	require.Len(t, s.Took, 20)
	require.Greater(t, s.WireIn, 20*len("hello"))
	require.Greater(t, s.WireOut, 20*len(dir))
	requireOutputBeforeTheAnswer(t, x, vars)
	_, err = x.Batch(t.Context(), "read", Batch{N: 1, Vars: Vars{"path": filepath.Join(dir, "none")}})
	require.ErrorContains(t, err, "no such file")
}
