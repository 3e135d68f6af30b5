package walk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agentco/agent/providers/filesystem/internal/ignore"
	"github.com/agentco/agent/sdk/jail"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// put makes files below dir; a name that ends in a slash is a directory.
func put(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path, body, _ := strings.Cut(filepath.Join(dir, name), "=")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(body, ",", "\n")), 0o644))
	}
}

func newJail(t testing.TB, dir string, deny ...string) *jail.Jail {
	t.Helper()
	j, err := jail.New(jail.Options{Roots: []string{dir}, Deny: deny})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	return j
}

// names is what a walk gives, as paths.
func names(b Batch) ([]string, int) {
	var out []string
	for _, f := range b.Files {
		out = append(out, Join(b.Rel, f.Name))
	}
	return out, len(out)
}

func paths(t testing.TB, files afero.Fs, dir string, o Options[[]string]) ([]string, Count) {
	t.Helper()
	var found []string
	o.Visit = names
	o.Give = func(some []string) { found = append(found, some...) }
	start, err := Open(files, dir)
	require.NoError(t, err)
	count, err := Run(t.Context(), start, dir, o)
	require.NoError(t, err)
	return found, count
}

func descriptors(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("there is no /proc")
	}
	return len(entries)
}

func TestWalk(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "z", "a/2", "a/1", "a/b/3", ".hidden/f", ".git/config", ".git/HEAD", "c/f", "node_modules/p/1.js", "a/x.log", "secret/f", "c/secret",
		".gitignore=node_modules/,*.log", "c/.gitignore=!x.log", "c/x.log")
	require.NoError(t, os.Symlink("..", dir+"/a/up"))
	require.NoError(t, os.Symlink("/", dir+"/c/away"))
	j := newJail(t, dir, "secret")
	got, count := paths(t, j, dir, Options[[]string]{Tree: ignore.NewTree(j, ignore.Config{})})
	require.Equal(t, []string{".gitignore", "z", ".hidden/f", "a/1", "a/2", "a/up", "a/b/3", "c/.gitignore", "c/away", "c/f", "c/x.log"}, got)
	require.Equal(t, Count{Files: 11, IgnoredFiles: 1, IgnoredDirs: 1, Denied: 2}, count)

	got, count = paths(t, j, dir, Options[[]string]{
		Enter: func(rel string) bool { return rel != "c" },
		Keep:  func(_, name string) bool { return strings.HasSuffix(name, ".js") || strings.HasSuffix(name, ".log") },
	})
	require.Equal(t, []string{"a/x.log", "node_modules/p/1.js"}, got)
	require.Equal(t, Count{Files: 2, Denied: 1}, count)
}

func TestRepositoryInARepositoryStartsAfresh(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, ".git/info/exclude=*.tmp", ".gitignore=*.log", "a.log", "a.tmp", "a",
		"inner/.git/info/exclude=*.bak", "inner/b.log", "inner/b.bak", "inner/b.tmp", "worktree/.git=gitdir: ../inner/.git", "worktree/c.bak", "worktree/c.log")
	j := newJail(t, dir)
	got, _ := paths(t, j, dir, Options[[]string]{Tree: ignore.NewTree(j, ignore.Config{})})
	require.Equal(t, []string{".gitignore", "a", "inner/b.log", "inner/b.tmp", "worktree/c.log"}, got)
}

// FO-34: who names an ignored directory wants to see it.
func TestRulesFromAbove(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, ".git/HEAD", ".gitignore=node_modules/,*.log", "a/.gitignore=*.tmp", "a/b/f", "a/b/x.log", "a/b/x.tmp",
		"node_modules/p/.gitignore=*.map", "node_modules/p/q/1.js", "node_modules/p/q/1.map", "node_modules/p/q/1.log")
	for _, j := range []afero.Fs{newJail(t, dir), newJail(t, dir+"/a"), afero.NewReadOnlyFs(afero.NewOsFs())} {
		got, _ := paths(t, j, dir+"/a/b", Options[[]string]{Tree: ignore.NewTree(j, ignore.Config{})})
		want := []string{"f"}
		if _, err := j.Stat(dir); err != nil { // what lies outside the roots is not read
			want = []string{"f", "x.log"}
		}
		require.Equal(t, want, got)
	}
	j := newJail(t, dir)
	got, _ := paths(t, j, dir+"/node_modules/p/q", Options[[]string]{Tree: ignore.NewTree(j, ignore.Config{})})
	require.Equal(t, []string{"1.js", "1.log"}, got)
}

func TestWalkInMemory(t *testing.T) {
	m := afero.NewMemMapFs()
	for name, body := range map[string]string{"/r/.gitignore": "*.log\n", "/r/a": "", "/r/b/c": "", "/r/b/x.log": ""} {
		require.NoError(t, afero.WriteFile(m, name, []byte(body), 0o644))
	}
	got, count := paths(t, m, "/r", Options[[]string]{Tree: ignore.NewTree(m, ignore.Config{})})
	require.Equal(t, []string{".gitignore", "a", "b/c"}, got)
	require.Equal(t, 1, count.IgnoredFiles)
}

// bush is a tree with directories of all sizes.
func bush(t testing.TB, dir string, files int) {
	r := rand.New(rand.NewPCG(1, 2))
	at := []string{dir}
	for n := 0; n < files; {
		in := at[r.IntN(len(at))]
		for range r.IntN(60) {
			put(t, in, fmt.Sprint("f", n))
			n++
		}
		next := filepath.Join(in, fmt.Sprint("d", n))
		require.NoError(t, os.MkdirAll(next, 0o755))
		at = append(at, next)
	}
}

func TestOrderIsTheSameEveryTime(t *testing.T) {
	dir := t.TempDir()
	bush(t, dir, 2000)
	j := newJail(t, dir)
	before := descriptors(t)
	first, _ := paths(t, j, dir, Options[[]string]{})
	require.GreaterOrEqual(t, len(first), 2000)
	for range 20 {
		again, _ := paths(t, j, dir, Options[[]string]{})
		require.Equal(t, first, again)
	}
	require.Equal(t, before, descriptors(t), "every directory is closed")
}

// Large results wait for each other and not the memory for them.
func TestLargeResultsWait(t *testing.T) {
	dir := t.TempDir()
	bush(t, dir, 2000)
	var waiting, most atomic.Int64
	start, err := Open(newJail(t, dir), dir)
	require.NoError(t, err)
	_, err = Run(t.Context(), start, dir, Options[int]{
		Visit: func(Batch) (int, int) {
			now := waiting.Add(1)
			for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
			}
			return 0, 1 << 20
		},
		Give: func(int) { waiting.Add(-1); runtime.Gosched() },
	})
	require.NoError(t, err)
	require.Zero(t, waiting.Load())
	require.LessOrEqual(t, most.Load(), int64(mostWaiting>>20+2*mostWorkers))
}

func TestCancelledWalk(t *testing.T) {
	dir := t.TempDir()
	bush(t, dir, 2000)
	j := newJail(t, dir)
	before := descriptors(t)
	for range 20 {
		start, err := Open(j, dir)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var visited, then atomic.Int64
		_, err = Run(ctx, start, dir, Options[int]{Visit: func(b Batch) (int, int) {
			if visited.Add(1) == 10 {
				cancel()
				for !b.Stopped.Load() {
					runtime.Gosched()
				}
				then.Store(visited.Load())
			}
			return 0, 0
		}})
		require.ErrorIs(t, err, context.Canceled)
		require.LessOrEqual(t, visited.Load(), then.Load()+mostWorkers, "none has begun since")
		require.Equal(t, before, descriptors(t), "every directory is closed")
	}
}

func TestPanicOfAVisitReachesTheCaller(t *testing.T) {
	dir := t.TempDir()
	bush(t, dir, 200)
	j := newJail(t, dir)
	before := descriptors(t)
	start, err := Open(j, dir)
	require.NoError(t, err)
	require.PanicsWithValue(t, "oh", func() {
		_, _ = Run(t.Context(), start, dir, Options[int]{Visit: func(Batch) (int, int) { panic("oh") }})
	})
	require.Equal(t, before, descriptors(t))
}

func TestUnreadableDirectoriesAreCounted(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a/f", "b/f", "c/f")
	start, err := Open(newJail(t, dir), dir)
	require.NoError(t, err)
	var got []string
	count, err := Run(t.Context(), failing{start}, dir, Options[[]string]{Visit: names, Give: func(some []string) { got = append(got, some...) }})
	require.NoError(t, err)
	require.Equal(t, []string{"a/f", "c/f"}, got)
	require.Equal(t, 1, count.Unread)
}

type opened = Dir

// failing is a directory in which b cannot be opened.
type failing struct{ opened }

func (d failing) Dir(name string) (Dir, error) {
	if name == "b" {
		return nil, syscall.EACCES
	}
	return d.opened.Dir(name)
}
