//go:build unix

package jail

import (
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

var raceTime = flag.Duration("race-time", 2*time.Second, "how long the race between two processes runs")

// swapIn makes the test binary a process that swaps directories in a house.
const swapIn = "JAIL_TEST_SWAP_IN"

func TestMain(m *testing.M) {
	if base := os.Getenv(swapIn); base != "" {
		swapUntilEOF(base)
		return
	}
	goleak.VerifyTestMain(m)
}

// swapUntilEOF exchanges directories, at two levels, for links that lead out,
// until nobody holds its input any more.
func swapUntilEOF(base string) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	out := filepath.Join(base, "out")
	for i := 0; ; i++ {
		select {
		case <-ended:
			return
		default:
		}
		dir := filepath.Join(base, "root", []string{"sub", "sub/deep"}[i%2])
		target := []string{out, "../out", "../../out", "/proc/self/root" + out, ".."}[i%5]
		aside := dir + ".aside"
		// The other process makes what it finds missing and takes away what it
		// finds: each step may fail, and what is lost is made anew.
		_ = os.Rename(dir, aside)
		_ = os.Symlink(target, dir)
		_ = os.RemoveAll(dir)
		_ = os.Rename(aside, dir)
		deep := filepath.Join(base, "root/sub/deep")
		if _, err := os.Stat(filepath.Join(deep, "f")); err != nil {
			_ = os.MkdirAll(deep, 0o755)
			_ = os.WriteFile(filepath.Join(deep, "f.new"), []byte("in"), 0o644)
			_ = os.Rename(filepath.Join(deep, "f.new"), filepath.Join(deep, "f"))
		}
	}
}

// Another process swaps directories for links while everything that a jail can
// do is done below them: nothing outside is seen or changed.
func TestRaceOfProcesses(t *testing.T) {
	h := newHouse(t, Options{})
	h.put(t, "root/sub/deep/f", "in")
	h.put(t, "out/f", "OUT")
	h.put(t, "out/deep/f", "OUT")
	before := tree(t, h.base+"/out")
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), swapIn+"="+h.base)
	cmd.Stderr = t.Output()
	hold, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())

	end := time.Now().Add(*raceTime)
	if testing.Short() {
		end = time.Now().Add(*raceTime / 4)
	}
	rounds, seen := 0, 0
	// A slow machine goes on until it has seen both: the file, and that it was away.
	for ; time.Now().Before(end) || seen == 0 || seen == rounds; rounds++ {
		body, err := h.read("sub/deep/f")
		if err == nil {
			seen++
			require.Equal(t, "in", body)
		}
		h.tryAll(t, rounds)
	}
	require.NoError(t, hold.Close())
	require.NoError(t, cmd.Wait())
	require.Equal(t, before, tree(t, h.base+"/out"))
	t.Logf("%d rounds, the file was there in %d", rounds, seen)
}

// tryAll does one thing below the swapped directories; it may fail.
func (h house) tryAll(t *testing.T, i int) {
	t.Helper()
	const dir, name = "sub/deep/", "sub/deep/new"
	now := time.Now()
	_ = []func() error{
		func() error { return afero.WriteFile(h, name, []byte("w"), 0o644) },
		func() error { return h.Rename(name, dir+"newer") },
		func() error { return h.RenameNew(dir+"newer", dir+"f2") },
		func() error { return h.Link(dir+"f2", name) },
		func() error { return h.SymlinkIfPossible("f", dir+"link") },
		func() error { return h.Chmod(dir+"f", 0o600) },
		func() error { return h.Chtimes(dir+"f", now, now) },
		func() error { return h.MkdirAll(dir+"made/below", 0o755) },
		func() error { _, err := h.RemoveTree(t.Context(), dir+"made"); return err },
		func() error { return h.Remove(dir + "link") },
		func() error { return h.RemoveAll(dir + "f2") },
		func() error { _, err := h.Survey(t.Context(), "sub"); return err },
		func() error {
			pinned, end, err := h.PinDir("sub/deep")
			if err != nil {
				return err
			}
			defer func() { require.NoError(t, end()) }()
			return afero.WriteFile(pinned, filepath.Join(h.root, dir, "pinned"), []byte("w"), 0o644)
		},
		func() error {
			f, err := h.Open("sub")
			if err != nil {
				return err
			}
			names, err := f.Readdirnames(-1)
			require.NotContains(t, names, "OUT")
			require.NoError(t, f.Close())
			return err
		},
	}[i%14]()
}
