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

	"github.com/agentco/agent/bench/internal/proc"
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
	logging := exec.Command("go", "build", "-o", filepath.Join(bin, "enginebench"), "./internal/enginebench")
	logging.Dir = "../../../kernel"
	out, err := logging.CombinedOutput()
	require.NoError(t, err, string(out))
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
	step := func(tool string) *subject.Op { return &subject.Op{Steps: []subject.Step{{Tool: tool}}} }
	peers = append(peers, &subject.Peer{Name: "as-bare", Same: "bare-mcp", Kind: "mcp", Command: []string{"${bin}/floormcp", "-answers", "${answers}"},
		Ops: map[string]*subject.Op{"read4k": step("read4k"), "edit4k": step("edit4k"), "ttfb": step("never")}})
	s := &Suite{
		Vars:  subject.Vars{"fx": fx, "bin": bin, "home": dir, "npm": filepath.Join(dir, "none"), "answers": filepath.Join(dir, "answers"), "PATH": os.Getenv("PATH")},
		Peers: peers, PeerNames: []string{"bare-mcp", "bare-chain", "bash", "official-fs", "client-same", "log-alone", "as-bare"}, Scale: 0.01, Patience: 10 * time.Second, Say: func(text string) { t.Log(text) },
		Only: []string{"cold", "idle", "read4k", "edit4k", "glob1k", "true", "ttfb", "cancel_group", "cancel_setsid"},
	}
	rows, err := s.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"official-fs": "it is not installed", "client-same": "ours-mcp, whose answers it gives, is not measured",
	}, rows.Skipped)
	if proc.UsedHere() > 0 {
		for name, known := range map[string]bool{"go-plugin-stream": true, "log-alone": true, "bare-chain": true, "bash": false} {
			require.Equal(t, known, rows.Get(name, "read4k").CPU > 0, "the processor time of %s", name)
		}
	}
	for _, want := range []struct {
		subject, op string
		status      row.Status
	}{
		{"go-plugin", "cold", row.OK}, {"bare-mcp", "cold", row.OK}, {"bare-chain", "idle", row.OK},
		{"in-process", "read4k", row.OK}, {"go-plugin", "read4k", row.OK}, {"bare-chain", "read4k", row.OK}, {"bash", "read4k", row.OK},
		{"in-process", "edit4k", row.OK}, {"bare-mcp", "edit4k", row.OK},
		{"bare-mcp", "glob1k", row.Truncated}, // two of twenty
		{"bare-mcp", "true", row.OK}, {"bare-chain", "ttfb", row.OK},
		{"as-bare", "cold", row.OK}, {"as-bare", "read4k", row.OK}, {"as-bare", "edit4k", row.OK}, // it changes nothing
		{"as-bare", "ttfb", row.Failed}, // what was recorded is called otherwise
		{"in-jail", "read4k", row.OK}, {"go-plugin-stream", "read4k", row.OK}, {"log-alone", "read4k", row.OK}, {"log-alone", "edit4k", row.OK},
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

// What the floors of this process say they read and write, they do.
func TestFloorsDoTheWork(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "floorplugin"), "../../cmd/floorplugin").CombinedOutput()
	require.NoError(t, err, string(out))
	file := filepath.Join(dir, "f")
	text := strings.Repeat("0123456\n", 512)
	outside := filepath.Join(t.TempDir(), "outside")
	for _, path := range []string{file, outside} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	all, err := floors(subject.Vars{"fx": dir, "bin": bin, "home": dir})
	require.NoError(t, err)
	has := map[string]subject.Subject{}
	for _, x := range all {
		t.Cleanup(x.Close)
		has[x.Name()] = x
	}
	b := subject.Batch{N: 1, Vars: subject.Vars{"path": file, "old": "0123456\n", "new": "x\n", "dir": dir}}

	got, err := has[streamed].Batch(t.Context(), "read4k", b)
	require.NoError(t, err)
	require.Equal(t, text, got.Text)
	_, err = has[inJail].Batch(t.Context(), "read4k", b)
	require.NoError(t, err)
	_, err = has[inJail].Batch(t.Context(), "read4k", subject.Batch{N: 1, Vars: b.Vars.With("path", outside)})
	require.ErrorContains(t, err, "outside", "there is a jail around it")
	got, err = has[inProcess].Batch(t.Context(), "look10k", b)
	require.NoError(t, err)
	require.Contains(t, got.Text, "f 4096 ")

	require.NoError(t, os.WriteFile(file, []byte("a\n0123456\nb\n"), 0o644))
	_, err = has[inProcess].Batch(t.Context(), "undoable1m", b)
	require.NoError(t, err)
	edited, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "a\nx\nb\n", string(edited))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 2, "bin and f")
}

func TestCancelledRunEndsEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "files"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "files/1m.txt"), []byte("x"), 0o644))
	s := &Suite{Vars: subject.Vars{"fx": dir, "bin": dir, "answers": filepath.Join(dir, "answers")}, Say: func(string) {}}
	_, err := s.Run(ctx)
	require.Error(t, err)
}

func TestWhichOperations(t *testing.T) {
	ops := []op{{name: "print1mb"}, {name: "print1024mb", whole: true}, {name: "read4k"}}
	for _, test := range []struct {
		name  string
		only  []string
		scale float64
		want  []string
		fails string
	}{
		{"all", nil, 1, []string{"print1mb", "print1024mb", "read4k"}, ""},
		{"a quick run", nil, 0.1, []string{"print1mb", "read4k"}, ""},
		{"a pattern", []string{"print*"}, 1, []string{"print1mb", "print1024mb"}, ""},
		{"what is named is measured in a quick run too", []string{"print1024mb"}, 0.1, []string{"print1024mb"}, ""},
		{"none of these", []string{"cancel_*", "log10"}, 1, nil, ""},
		{"there is none", []string{"read4k", "sing"}, 1, []string{"read4k"}, `no operation "sing"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &Suite{Only: test.only, Scale: test.scale}
			var got []string
			for _, o := range ops {
				if s.measures(o) {
					got = append(got, o.name)
				}
			}
			require.Equal(t, test.want, got)
			if err := s.Check(); test.fails != "" {
				require.ErrorContains(t, err, test.fails)
			} else {
				require.NoError(t, err)
			}
		})
	}
	require.ErrorContains(t, (&Suite{PeerNames: []string{"nobody"}}).Check(), `no peer "nobody"`)
}

// What was measured before the end of a run is kept, and what was cut short is not.
func TestInterruptedRun(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	f := &subject.Functions{Called: "f", Has: map[string]subject.Function{
		"noop": func(context.Context, subject.Vars, func([]byte)) (string, error) { return "", nil },
		"read4k": func(ctx context.Context, _ subject.Vars, _ func([]byte)) (string, error) {
			interrupt()
			return "", ctx.Err()
		},
	}}
	var kept []string
	s := &Suite{Scale: 1, Say: func(string) {}, subjects: []subject.Subject{f}, rows: &row.Set{}}
	s.Keep = func(set *row.Set) {
		kept = nil
		for _, r := range set.Rows {
			kept = append(kept, r.Op)
		}
	}
	for _, name := range []string{"noop", "read4k"} {
		s.operation(ctx, op{name: name, n: 3, limit: time.Second})
		s.keep()
	}
	require.Equal(t, []string{"noop"}, kept)
}

func TestExpected(t *testing.T) {
	o := op{name: "read4k", n: 100, workers: 2, limit: 10 * time.Second}
	s := &Suite{Scale: 1}
	require.Equal(t, 5*time.Second, s.costOf("x", o), "half of its limit, when it was never measured")
	require.Equal(t, 40*time.Second, s.costOf("x", op{name: "print1024mb", n: 2, limit: time.Second, bytes: 1000e6}), "or as long as the bytes take")
	s.Before = &row.Set{Rows: []*row.Row{{Subject: "x", Op: "read4k", Status: row.OK, P50: 30}, {Subject: "slow", Op: "read4k", Status: row.OK, P50: 60000}}}
	require.Equal(t, 1500*time.Millisecond, s.costOf("x", o))
	require.Equal(t, time.Minute, s.costOf("slow", o), "one call is not cut off")

	p := progress{total: 100 * time.Second}
	require.Equal(t, 100*time.Second, p.left(3*time.Second), "too early to tell")
	p.passed(50 * time.Second)
	require.Equal(t, 100*time.Second, p.left(100*time.Second), "it takes twice as long as was expected")
	p.passed(60 * time.Second)
	require.Zero(t, p.left(200*time.Second))
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
