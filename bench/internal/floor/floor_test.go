package floor

import (
	"context"
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a"), 0o755))
	long := strings.Repeat("x", 200<<10) + "needle"
	for name, text := range map[string]string{"one.go": "needle", "a/two.go": "nothing", "a/long.txt": long} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	list, err := List(dir)
	require.NoError(t, err)
	require.Equal(t, "a\none.go\n", list)
	walked, err := Walk(dir, ".go")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "a/two.go")+"\n"+filepath.Join(dir, "one.go")+"\n", walked)
	found, err := Grep(t.Context(), dir, "needle")
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(found, "\n"), "one of them at the end of a long file: %s", found)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Grep(cancelled, dir, "needle")
	require.ErrorIs(t, err, context.Canceled)
}

func TestEdit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, sync := range []bool{false, true} {
		require.NoError(t, os.WriteFile(path, []byte("a b c"), 0o644))
		require.NoError(t, Edit(path, "b", "B", sync))
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "a B c", string(b))
		require.ErrorContains(t, Edit(path, "z", "Z", sync), "exactly once")
		require.NoFileExists(t, path+".new")
	}
}

func TestUndoable(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(path, []byte("a b c"), 0o644))
	keep, err := os.Create(filepath.Join(dir, "kept"))
	require.NoError(t, err)
	defer keep.Close()
	before, after, err := Undoable(path, "b", "BB", keep)
	require.NoError(t, err)
	for name, want := range map[string]string{path: "a BB c", keep.Name(): "a b c"} {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, want, string(b))
	}
	require.Equal(t, sha256.Sum256([]byte("a b c")), before)
	require.Equal(t, sha256.Sum256([]byte("a BB c")), after)
	_, _, err = Undoable(path, "z", "Z", keep)
	require.ErrorContains(t, err, "exactly once")
	require.NoError(t, keep.Close())
	_, _, err = Undoable(path, "BB", "b", keep)
	require.ErrorIs(t, err, os.ErrClosed, "what could not be kept is no edit")
}

func TestLook(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("abc"), 0o644))
	require.NoError(t, os.Chtimes(filepath.Join(dir, "a"), at, at))
	require.NoError(t, os.Symlink("a", filepath.Join(dir, "b")))
	text, err := Look(dir)
	require.NoError(t, err)
	lines := strings.Split(text, "\n")
	require.Len(t, lines, 3)
	require.Equal(t, "a 3 "+at.Format(time.RFC3339)+" -rw-r--r--", lines[0])
	require.Contains(t, lines[1], "L", "the link, not where it leads")
	_, err = Look(dir + "-none")
	require.Error(t, err)
}

func TestProvider(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "floorplugin")
	out, err := exec.Command("go", "build", "-o", binary, "../../cmd/floorplugin").CombinedOutput()
	require.NoError(t, err, string(out))
	p, err := Start(binary)
	require.NoError(t, err)
	defer p.Kill()
	file := filepath.Join(t.TempDir(), "f")
	text := strings.Repeat("0123456789abcdef", 40<<10)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	b, err := p.Call(t.Context(), "r"+file)
	require.NoError(t, err)
	require.Equal(t, text, string(b))
	var streamed strings.Builder
	require.NoError(t, p.Stream(t.Context(), "r"+file, func(b []byte) { require.Equal(t, text, string(b), "in one message") }))
	streamed.Reset()
	require.NoError(t, p.Stream(t.Context(), "pecho $((6 * 7))", func(b []byte) { streamed.Write(b) }))
	require.Equal(t, "42\r\n", streamed.String())
	parts := 0
	require.NoError(t, p.Stream(t.Context(), "n", func(b []byte) { parts++; require.Empty(t, b) }))
	require.Equal(t, 1, parts)
	require.Error(t, p.Stream(t.Context(), "r"+file+"-none", func([]byte) { parts++ }))
	require.Equal(t, 1, parts)
	_, err = Start(file)
	require.Error(t, err)
}
