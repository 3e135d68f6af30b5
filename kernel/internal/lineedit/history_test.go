package lineedit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"
)

func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "history")
	one, err := OpenHistory(file)
	require.NoError(t, err)
	for _, line := range []string{"a", "a", "", "b 'c\nd' <日>"} {
		require.NoError(t, one.Add(line))
	}
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	two, err := OpenHistory(file)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b 'c\nd' <日>"}, two.Lines())
	var none *History
	require.NoError(t, none.Add("x"))
	require.Empty(t, none.Lines())
}

func TestHistoryOfADamagedFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	require.NoError(t, os.WriteFile(file, []byte("\"a\"\n\x00\x00\n{}\n\"b\"\n\"cut o"), 0o600))
	h, err := OpenHistory(file)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, h.Lines())
	require.NoError(t, h.Add("c"))
	h, err = OpenHistory(file)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, h.Lines())
}

func TestHistoryIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	var text strings.Builder
	for i := range 3 * historyLimit {
		fmt.Fprintf(&text, "\"%d\"\n", i)
	}
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	h, err := OpenHistory(file)
	require.NoError(t, err)
	require.Len(t, h.Lines(), historyLimit)
	require.NoError(t, h.Add("new"))
	require.Len(t, h.Lines(), historyLimit)
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, historyLimit+1, strings.Count(string(kept), "\n"))
	require.True(t, strings.HasSuffix(string(kept), "\"2999\"\n\"new\"\n"))
}

// Shells side by side lose nothing of each other's.
func TestHistoryIsShared(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	shells := make([]*History, 4)
	for s := range shells {
		var err error
		shells[s], err = OpenHistory(file)
		require.NoError(t, err)
		shells[s].patience = time.Minute // a slow machine takes its time
	}
	var wait sync.WaitGroup
	for s, h := range shells {
		wait.Go(func() {
			for i := range 50 {
				if err := h.Add(fmt.Sprintf("%d %d", s, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	h, err := OpenHistory(file)
	require.NoError(t, err)
	require.Len(t, h.Lines(), 200)
}

// A shell that was stopped while it held the file does not hold up another.
func TestHistoryThatIsHeld(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	h, err := OpenHistory(file)
	require.NoError(t, err)
	other := flock.New(file + ".lock")
	require.NoError(t, other.Lock())
	defer other.Close()
	require.ErrorContains(t, h.Add("x"), "cannot lock "+file)
	require.Equal(t, []string{"x"}, h.Lines())
}

func TestHistoryThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	require.NoError(t, os.MkdirAll(file, 0o700))
	h, err := OpenHistory(file)
	require.Error(t, err)
	require.NoError(t, h.Add("kept as long as it lasts"))
	require.Len(t, h.Lines(), 1)
}

// Of a file that somebody else has filled, the end is read, and kept.
func TestHistoryOfAHugeFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	line := strings.Repeat("x", 1<<20)
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("\""+line+"\"\n", 20)+"\"last\"\n"), 0o600))
	h, err := OpenHistory(file)
	require.NoError(t, err)
	require.Equal(t, []string{line, line, line, line, line, line, line, "last"}, h.Lines())
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(historyBytes))
}
