//go:build unix

package atomicfile

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// TestMain turns the test binary into a process that writes until it is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("ATOMICFILE_WRITE_IN"); dir != "" {
		write := writeForever
		if os.Getenv("ATOMICFILE_BATCH") != "" {
			write = batchForever
		}
		if err := write(dir, os.Getenv("ATOMICFILE_JOURNAL")); err != nil {
			panic(err)
		}
	}
	syscall.Umask(0o022)
	os.Exit(m.Run())
}

const generations = 4

// generation is one of the contents that writeForever writes.
func generation(i int) []byte { return []byte(strings.Repeat(strconv.Itoa(i%generations), 1<<20)) }

func writeForever(dir, journal string) error {
	j, err := OpenJournal(journal)
	if err != nil {
		return err
	}
	w := Writer{FS: afero.NewOsFs(), Journal: j}
	for i := 0; ; i++ {
		if err := w.Write(context.Background(), to(filepath.Join(dir, "f"), string(generation(i)))); err != nil {
			return err
		}
		if _, err := os.Stdout.WriteString("\n"); err != nil {
			return err
		}
	}
}

// A killed writer leaves the old or the new content, and what it leaves beside
// it is gone after the next start.
func TestKill(t *testing.T) {
	dir, journal := t.TempDir(), t.TempDir()
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	stale := 0
	for i := 0; i < rounds || stale == 0; i++ { // until a kill has hit a write
		killWriter(t, dir, journal, 1+i%3)
		body, err := os.ReadFile(filepath.Join(dir, "f"))
		require.NoError(t, err)
		require.NotEmpty(t, body)
		require.Equal(t, generation(int(body[0]-'0')), body, "old or new, and whole")

		left := len(names(t, afero.NewOsFs(), dir)) - 1
		removed, err := Recover(journal, afero.NewOsFs())
		require.NoError(t, err)
		require.Equal(t, left, removed)
		require.Equal(t, []string{"f"}, names(t, afero.NewOsFs(), dir))
		require.Empty(t, names(t, afero.NewOsFs(), journal))
		stale += removed
	}
}

// killWriter lets a process write, and kills it in a write after so many: when
// its temporary file is there.
func killWriter(t *testing.T, dir, journal string, writes int) {
	t.Helper()
	killWhen(t, dir, journal, writes, "", func() bool { return len(names(t, afero.NewOsFs(), dir)) >= 2 })
}

// killWhen kills a writer after so many writes, as soon as now is true.
func killWhen(t *testing.T, dir, journal string, writes int, batch string, now func() bool) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "ATOMICFILE_WRITE_IN="+dir, "ATOMICFILE_JOURNAL="+journal, "ATOMICFILE_BATCH="+batch)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(out)
	for range writes {
		_, err = lines.ReadString('\n')
		require.NoError(t, err)
	}
	for deadline := time.Now().Add(time.Minute); !now(); {
		require.True(t, time.Now().Before(deadline), "the writer does not write")
	}
	require.NoError(t, cmd.Process.Kill())
	_, err = io.Copy(io.Discard, lines)
	require.NoError(t, err)
	require.Error(t, cmd.Wait())
}

// batched is how many files a batch of batchForever has: enough for a kill to
// find some exchanged and some not.
const batched = 60

func batchName(dir string, i int) string { return filepath.Join(dir, strconv.Itoa(i)) }

// batchForever gives all files one generation after the other. One file comes
// and goes with them.
func batchForever(dir, journal string) error {
	j, err := OpenJournal(journal)
	if err != nil {
		return err
	}
	last, err := os.ReadFile(batchName(dir, 0))
	if err != nil {
		return err
	}
	w := Writer{FS: linking{afero.NewOsFs()}, Journal: j}
	for g := int(last[0]-'0') + 1; ; g++ {
		if err := writeBatch(&w, dir, g); err != nil {
			return err
		}
		if _, err := os.Stdout.WriteString("\n"); err != nil {
			return err
		}
	}
}

func writeBatch(w *Writer, dir string, g int) error {
	b := w.Begin()
	var err error
	for i := range batched {
		err = errors.Join(err, b.Write(context.Background(), to(batchName(dir, i), strconv.Itoa(g%10))))
	}
	switch odd := filepath.Join(dir, "odd"); {
	case g == 0: // nothing is there yet to be removed
	case g%2 == 0:
		err = errors.Join(err, b.Remove(odd, nil))
	default:
		err = errors.Join(err, b.Write(context.Background(), to(odd, "")))
	}
	if err == nil {
		err = b.Commit(context.Background())
	}
	return errors.Join(err, b.Close())
}

// A process killed between two files of a batch leaves some new and some old.
// The next start makes them one again.
func TestKillInABatch(t *testing.T) {
	dir, journal := t.TempDir(), t.TempDir()
	require.NoError(t, writeBatch(&Writer{FS: linking{afero.NewOsFs()}}, dir, 0))
	mixed := 0
	for round := 0; round < 10 || mixed == 0; round++ { // until a kill has hit a batch
		killWhen(t, dir, journal, 1, "yes", func() bool {
			first, _ := os.ReadFile(batchName(dir, 0))
			last, _ := os.ReadFile(batchName(dir, batched-1))
			return string(first) != string(last)
		})
		if !whole(t, dir) {
			mixed++
		}
		_, err := Recover(journal, linking{afero.NewOsFs()})
		require.NoError(t, err)
		require.True(t, whole(t, dir), "all files of a batch are of one generation")
		for _, name := range names(t, afero.NewOsFs(), dir) {
			require.False(t, IsTemp(name), name)
		}
		require.Empty(t, names(t, afero.NewOsFs(), journal))
	}
}

// whole reports whether all files in dir are of one generation.
func whole(t *testing.T, dir string) bool {
	t.Helper()
	first, err := os.ReadFile(batchName(dir, 0))
	require.NoError(t, err)
	for i := range batched {
		body, err := os.ReadFile(batchName(dir, i))
		require.NoError(t, err)
		if string(body) != string(first) {
			return false
		}
	}
	_, err = os.Stat(filepath.Join(dir, "odd"))
	return (err == nil) == ((first[0]-'0')%2 == 1)
}

func TestRecoverLeavesTheLivingAlone(t *testing.T) {
	dir, journal := t.TempDir(), t.TempDir()
	j, err := OpenJournal(journal)
	require.NoError(t, err)
	temp := filepath.Join(dir, ".agent-ABCDEFGHIJKLMNOPQRSTUVWXYZ.tmp")
	done := j.begin(temp)
	require.NoError(t, os.WriteFile(temp, nil, 0o600))
	removed, err := Recover(journal, afero.NewOsFs())
	require.NoError(t, err)
	require.Zero(t, removed)
	require.FileExists(t, temp)
	done()
	require.NoError(t, j.Close())
	require.Empty(t, names(t, afero.NewOsFs(), journal))
}

func TestRecoverRemovesOnlyTemporaryFilesItCanReach(t *testing.T) {
	dir, journal := t.TempDir(), t.TempDir()
	precious, temp := filepath.Join(dir, "precious"), filepath.Join(dir, ".agent-ABCDEFGHIJKLMNOPQRSTUVWXYZ.tmp")
	for _, name := range []string{precious, temp} {
		require.NoError(t, os.WriteFile(name, nil, 0o600))
	}
	lines := strconv.Quote(precious) + "\n" + strconv.Quote(temp) + "\n\"/cut sho"
	note := filepath.Join(journal, "1.journal")
	require.NoError(t, os.WriteFile(note, []byte(lines), 0o600))

	removed, err := Recover(journal, afero.NewReadOnlyFs(afero.NewOsFs()))
	require.NoError(t, err)
	require.Zero(t, removed)
	require.FileExists(t, note, "another process may reach it")

	removed, err = Recover(journal, afero.NewOsFs())
	require.NoError(t, err)
	require.Equal(t, 1, removed)
	require.FileExists(t, precious)
	require.NoFileExists(t, temp)
	require.NoFileExists(t, note)

	removed, err = Recover(filepath.Join(journal, "none"), afero.NewOsFs())
	require.NoError(t, err)
	require.Zero(t, removed)
}

func TestJournalStaysShort(t *testing.T) {
	j, err := OpenJournal(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	for range 2 * roomy / 20 {
		j.begin("/a/temporary/file")()
	}
	info, err := j.file.Stat()
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(roomy))
	require.NotZero(t, info.Size())
}

// Directories that a process made for a file, and did not live to fill, go.
func TestRecoverMadeDirectories(t *testing.T) {
	dir, notes := t.TempDir(), t.TempDir()
	j, err := OpenJournal(notes)
	require.NoError(t, err)
	at := func(name string) string { return filepath.Join(dir, name) }
	j.Making([]string{at("empty/below"), at("empty")})
	j.Making([]string{at("filled/below"), at("filled")})
	j.Making([]string{at("decided")})()
	j.Making([]string{at("never")})
	for _, name := range []string{"empty/below", "filled/below", "decided"} {
		require.NoError(t, os.MkdirAll(at(name), 0o755))
	}
	require.NoError(t, os.WriteFile(at("filled/f"), nil, 0o644))
	require.NoError(t, j.file.Close()) // as when the process is killed
	_, err = Recover(notes, afero.NewOsFs())
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"decided", "filled"}, names(t, afero.NewOsFs(), dir))
	require.Equal(t, []string{"f"}, names(t, afero.NewOsFs(), at("filled")))
	require.Empty(t, names(t, afero.NewOsFs(), notes))
}

// Whoever empties the cache of a running process does no harm.
func TestJournalWithoutItsFile(t *testing.T) {
	notes := t.TempDir()
	j, err := OpenJournal(notes)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(notes))
	j.Note(TempIn("/"))()
	_, err = j.Scratch()
	require.NoError(t, err)
	require.NoError(t, j.Close())
}
