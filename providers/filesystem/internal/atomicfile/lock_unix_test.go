//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

var errRaced = errors.New("another was faster")

// appendLine reads a file and writes it with a line more, unless it has become
// another one meanwhile.
func appendLine(t *testing.T, w Writer, name, line string) error {
	was, err := os.Stat(name)
	if err != nil {
		return err
	}
	body, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return w.Write(t.Context(), Change{Name: name, Content: strings.NewReader(string(body) + line + "\n"), Guard: func() error {
		if now, err := os.Stat(name); err != nil || now.Size() != was.Size() || !now.ModTime().Equal(was.ModTime()) {
			return errors.Join(errRaced, err)
		}
		return nil
	}})
}

// Writers that know nothing of each other, as those of two processes, do not
// take each other's changes away.
func TestWritersOfOneFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(name, nil, 0o644))
	const writers, writes = 4, 100
	done := make(chan []string)
	for i := range writers {
		go func() {
			var written []string
			for n := range writes {
				line := string(rune('a'+i)) + strings.Repeat("x", n)
				if err := appendLine(t, Writer{FS: afero.NewOsFs()}, name, line); err == nil {
					written = append(written, line)
				} else if !errors.Is(err, errRaced) && !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
			}
			done <- written
		}()
	}
	var want []string
	for range writers {
		want = append(want, <-done...)
	}
	body, err := os.ReadFile(name)
	require.NoError(t, err)
	require.ElementsMatch(t, want, strings.Fields(string(body)))
}

// A lock that another holds does not keep a file from being changed for ever.
func TestWriteOfALockedFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(name, nil, 0o644))
	f, err := os.Open(name)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	begun := time.Now()
	require.NoError(t, appendLine(t, Writer{FS: afero.NewOsFs()}, name, "x"))
	require.GreaterOrEqual(t, time.Since(begun), patience)
}
