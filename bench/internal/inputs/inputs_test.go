package inputs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// count walks a tree and tells its files, those in Go, and those with the needle.
func count(t *testing.T, root string) (files, golang, needles int) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		if strings.HasSuffix(path, ".go") {
			golang++
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(Needle)) {
			needles++
		}
		return err
	}))
	return files, golang, needles
}

func TestSource(t *testing.T) {
	root := filepath.Join(t.TempDir(), "src")
	require.NoError(t, source(root, 1000))
	files, golang, needles := count(t, root)
	require.Equal(t, []int{1000, 20, 4}, []int{files, golang, needles})
}

func TestTextIsTheSameEverywhere(t *testing.T) {
	b := text(rand.New(rand.NewSource(1)), 4<<10)
	require.Len(t, b, 4<<10)
	require.Equal(t, byte('\n'), b[len(b)-1])
	sum := sha256.Sum256(b)
	require.Equal(t, "b654e90331f4f8f3b01ac9e72a583ab2180bdd202b50307fb8c43cf7f3f93968", hex.EncodeToString(sum[:]))
}

func TestRepeated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	require.NoError(t, repeated(path, 2500000))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Len(t, b, 2500000)
	require.Equal(t, 25000, bytes.Count(b, []byte("\n")))
}

func TestCopyOfARepositoryIsClean(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	require.NoError(t, os.MkdirAll(from, 0o755))
	git := func(dir string, args ...string) string {
		c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	git(from, "init", "-q")
	require.NoError(t, os.WriteFile(filepath.Join(from, "a"), []byte("x"), 0o644))
	git(from, "add", "a")
	git(from, "commit", "-q", "-m", "first")
	require.NoError(t, Copy(t.Context(), from, to))
	require.Empty(t, git(to, "status", "--porcelain"))
	require.NoError(t, os.WriteFile(filepath.Join(to, "a"), []byte("y"), 0o644))
	require.NoError(t, Copy(t.Context(), from, to), "an old copy makes way")
	require.Equal(t, git(from, "rev-parse", "HEAD"), git(to, "rev-parse", Start))
	require.Empty(t, git(to, "diff", "--stat", Start))
	require.ErrorContains(t, Copy(t.Context(), t.TempDir(), to), "git update-ref")
}
