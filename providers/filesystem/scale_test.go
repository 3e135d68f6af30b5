//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk/sdktest"
)

// rare is in four files of a large tree.
const rare = "zqxjRareNeedleKvw"

// project makes a tree like those people have: some code of their own and many
// times as much of others'. Its last file is the files'th.
func project(t testing.TB, root string, files int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 100))
	pool := prose(r, 1<<20)
	n := 0
	put := func(dir, name string) {
		if n == files {
			return
		}
		size := min(200+int(r.ExpFloat64()*1500), 32<<10)
		at := r.IntN(len(pool) - size)
		body := slices.Clone(pool[at : at+size])
		if n%(files/5+1) == files/5 {
			body = append(body, "\n// "+rare+" here\n"...)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), body, 0o644); err != nil {
			t.Fatal(err)
		}
		n++
	}
	for service := range files / 2500 {
		for d := range 5 {
			for f := range 10 {
				put(fmt.Sprintf("%s/services/svc%02d/internal/v%d", root, service, d), fmt.Sprintf("f%d.go", f))
			}
		}
	}
	kinds := []string{".js", ".js", ".js", ".d.ts", ".ts", ".json", ".md", ".map", ".mjs", ".css"}
	for m := 0; n < files; m++ {
		pack := fmt.Sprintf("%s/apps/app%02d/node_modules/pkg-%d", root, m/50, m)
		for _, d := range []string{"", "lib", "dist/esm", "dist/cjs", "src/internal/util"} {
			for f := range 8 {
				put(filepath.Join(pack, d), fmt.Sprintf("f%d%s", f, kinds[r.IntN(len(kinds))]))
			}
		}
	}
}

func prose(r *rand.Rand, size int) []byte {
	words := strings.Fields("err ctx return func string config provider agent stream buffer handle result value index length offset request response kernel plugin session cancel deadline channel worker packet header")
	var b bytes.Buffer
	for b.Len() < size {
		for range 3 + r.IntN(8) {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		b.WriteString("\n")
	}
	return b.Bytes()
}

// output is what another program finds in dir, sorted.
func output(t testing.TB, dir, program string, a ...string) []string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skip(program + " is not installed")
	}
	cmd := exec.CommandContext(t.Context(), path, a...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatal(err)
	}
	lines := strings.FieldsFunc(strings.ReplaceAll(string(out), "./", ""), func(r rune) bool { return r == '\n' || r == '\r' })
	slices.Sort(lines)
	return lines
}

// What others find in a tree, we find, and nothing else.
func TestAgreesWithRipgrepAndFd(t *testing.T) {
	w := newWorld(t, args{"max_result_bytes": maxResult})
	project(t, w.root, 3000)
	w.put("root/.git/HEAD", "ref: refs/heads/main\n")
	w.put("root/.gitignore", "dist/\n*.map\n!f1.map\n")
	w.put("root/apps/app00/.gitignore", "/node_modules/pkg-1*/lib\n")
	w.put("root/services/.hidden/f.go", "worker packet\n")
	w.put("root/empty", "")
	w.put("root/crlf.txt", "worker packet\r\n\r\nPacket\r\n")
	sorted := func(found []string) []string {
		slices.Sort(found)
		return found
	}
	for _, tt := range []struct {
		pattern string
		args    args
		rg      []string
	}{
		{rare, args{}, []string{"-F"}},
		{"worker.*packet", args{}, nil},
		{"RESPONSE KERNEL", args{"ignore_case": true}, []string{"-i"}},
		{"^return [a-e]+ ", args{}, nil},
		{`\bhandle (err|ctx)\b`, args{}, nil},
		{"session|deadline x", args{"glob": "*.go"}, []string{"-g", "*.go"}},
		{"packet$", args{}, []string{"--crlf"}},
		{"agent", args{"include_ignored": true}, []string{"--no-ignore"}},
		{"value", args{"glob": "!*.js"}, []string{"-g", "!*.js"}},
	} {
		common := append([]string{"--hidden", "--no-require-git", "--no-config", "--no-ignore-global", "-g", "!.git"}, tt.rg...)
		a := args{"pattern": tt.pattern, "limit": 5000}
		for k, v := range tt.args {
			a[k] = v
		}
		require.Equal(t, output(t, w.root, "rg", append(common, "-l", "-e", tt.pattern, ".")...), sorted(grepped(w.must("grep", a))), tt.pattern)
		a["mode"] = "count"
		require.Equal(t, output(t, w.root, "rg", append(common, "-c", "-e", tt.pattern, ".")...), sorted(grepped(w.must("grep", a))), tt.pattern)
	}
	for pattern, name := range map[string]string{"**/*.go": "*.go", "**/*.{js,ts}": "*.{js,ts}", "**/.*": ".*", "**/f[0-3].m?": "f[0-3].m?", "**": "*"} {
		theirs := output(t, w.root, "fdfind", "--hidden", "--no-global-ignore-file", "-t", "f", "-E", ".git", "--glob", name, ".")
		require.Equal(t, theirs, sorted(globbed(w.must("glob", args{"pattern": pattern, "limit": 10000}))), pattern)
	}
}

// cpu is the processor time that was used, which says more than the clock on a
// machine that does other things too.
func cpu(b *testing.B, who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func large(b *testing.B) (root string) {
	root = os.Getenv("FILESYSTEM_TREE")
	if root == "" {
		root = b.TempDir()
		project(b, root, 100_000)
	}
	return root
}

// BenchmarkSearch is searching 100,000 files, beside the programs made for it.
// FILESYSTEM_TREE names a tree that is already there.
func BenchmarkSearch(b *testing.B) {
	root := large(b)
	h := sdktest.Start(b, provider(), args{"allowed_roots": []any{root}})
	h.Dir = root
	ours := func(operation string, a args) func(*testing.B) {
		return func(b *testing.B) {
			before := cpu(b, syscall.RUSAGE_SELF)
			for b.Loop() {
				run(b, h, operation, a)
			}
			b.ReportMetric(float64((cpu(b, syscall.RUSAGE_SELF)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
		}
	}
	theirs := func(program string, a ...string) func(*testing.B) {
		return func(b *testing.B) {
			before := cpu(b, syscall.RUSAGE_CHILDREN)
			for b.Loop() {
				output(b, root, program, a...)
			}
			b.ReportMetric(float64((cpu(b, syscall.RUSAGE_CHILDREN)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
		}
	}
	b.Run("rare/ours", ours("grep", args{"pattern": rare, "include_ignored": true}))
	b.Run("rare/rg", theirs("rg", "--hidden", "--no-ignore", "--no-config", "-l", "-e", rare, "."))
	b.Run("fold/ours", ours("grep", args{"pattern": strings.ToLower(rare), "ignore_case": true, "include_ignored": true}))
	b.Run("fold/rg", theirs("rg", "--hidden", "--no-ignore", "--no-config", "-l", "-i", "-e", rare, "."))
	b.Run("common/ours", ours("grep", args{"pattern": "worker", "include_ignored": true}))
	b.Run("common/rg", theirs("rg", "--hidden", "--no-ignore", "--no-config", "-l", "-e", "worker", "."))
	b.Run("expression/ours", ours("grep", args{"pattern": `[a-z]+ker [0-9]`, "include_ignored": true}))
	b.Run("expression/rg", theirs("rg", "--hidden", "--no-ignore", "--no-config", "-l", "-e", `[a-z]+ker [0-9]`, "."))
	b.Run("glob/ours", ours("glob", args{"pattern": "**/*.go", "limit": 10000, "include_ignored": true}))
	b.Run("glob/fd", theirs("fdfind", "--hidden", "--no-ignore", "-t", "f", "--glob", "*.go", "."))
	b.Run("glob/rg", theirs("rg", "--files", "--hidden", "--no-ignore", "--no-config", "-g", "*.go", "."))
}

// BenchmarkListFloor is the least that reading and describing 10,000 names can
// cost here, without a jail, a message or anybody to send it to.
func BenchmarkListFloor(b *testing.B) {
	root := b.TempDir()
	for i := range 10_000 {
		require.NoError(b, os.WriteFile(filepath.Join(root, fmt.Sprint(i)), nil, 0o644))
	}
	for b.Loop() {
		entries, err := os.ReadDir(root)
		require.NoError(b, err)
		for _, e := range entries {
			if _, err := e.Info(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkCancelSearch is the time from a cancellation to the report of it, in
// the middle of a search of 100,000 files.
func BenchmarkCancelSearch(b *testing.B) {
	root := large(b)
	h := sdktest.Start(b, provider(), args{"allowed_roots": []any{root}})
	var took time.Duration
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		var at time.Time
		got := h.Watch(ctx, root, "grep", args{"pattern": "zzzz", "include_ignored": true}, func(e *toolv1.ToolEvent) {
			if e.GetProgress() != nil && at.IsZero() {
				at = time.Now()
				cancel()
			}
		})
		took += time.Since(at)
		require.NotNil(b, got.Report)
		cancel()
	}
	b.ReportMetric(float64(took.Microseconds())/1000/float64(b.N), "cancel-ms/op")
}
