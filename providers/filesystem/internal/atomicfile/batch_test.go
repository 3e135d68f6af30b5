package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// linking is a disk on which files can have two names.
type linking struct{ afero.Fs }

func (linking) Link(from, to string) error { return os.Link(from, to) }

// faulty fails its nth operation, and with forever all after it.
type faulty struct {
	afero.Fs
	n       int
	forever bool
	count   int
}

var errInjected = errors.New("injected")

func (f *faulty) fails() bool {
	f.count++
	return f.count == f.n || f.forever && f.count > f.n
}

func (f *faulty) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	if f.fails() {
		return nil, errInjected
	}
	file, err := f.Fs.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return faultyFile{file, f}, nil
}

func (f *faulty) Open(name string) (afero.File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

func (f *faulty) Rename(from, to string) error {
	if f.fails() {
		return errInjected
	}
	return f.Fs.Rename(from, to)
}

func (f *faulty) Remove(name string) error {
	if f.fails() {
		return errInjected
	}
	return f.Fs.Remove(name)
}

func (f *faulty) Stat(name string) (fs.FileInfo, error) {
	if f.fails() {
		return nil, errInjected
	}
	return f.Fs.Stat(name)
}

func (f *faulty) Link(from, to string) error {
	l, ok := f.Fs.(linking)
	if !ok || f.fails() {
		return errInjected
	}
	return l.Link(from, to)
}

type faultyFile struct {
	afero.File
	fs *faulty
}

func (f faultyFile) Write(p []byte) (int, error) {
	if f.fs.fails() {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, errInjected
	}
	return f.File.Write(p)
}

func (f faultyFile) Sync() error {
	if f.fs.fails() {
		return errInjected
	}
	return f.File.Sync()
}

func (f faultyFile) Stat() (fs.FileInfo, error) {
	if f.fs.fails() {
		return nil, errInjected
	}
	return f.File.Stat()
}

// Close fails after it has closed: a test must not run out of descriptors.
func (f faultyFile) Close() error {
	err := f.File.Close()
	if f.fs.fails() {
		return errInjected
	}
	return err
}

// contents are the files in dir.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.Walk(dir, func(name string, info fs.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		body, err := os.ReadFile(name)
		found[name[len(dir)+1:]] = fmt.Sprint(info.Mode(), " ", string(body))
		return err
	}))
	return found
}

// change replaces a, makes b and removes c.
func change(t *testing.T, w *Writer, dir string) (err error) {
	t.Helper()
	b := w.Begin()
	defer func() { err = errors.Join(err, b.Close()) }()
	made := filepath.Join(dir, "new")
	defer b.w.Journal.Making([]string{made})()
	if err := os.Mkdir(made, 0o755); err != nil {
		return err
	}
	b.Made([]string{made})
	if err := b.Write(t.Context(), to(filepath.Join(dir, "a"), "new a")); err != nil {
		return err
	}
	if err := b.Write(t.Context(), to(filepath.Join(made, "b"), "new b")); err != nil {
		return err
	}
	if err := b.Remove(filepath.Join(dir, "c"), nil); err != nil {
		return err
	}
	return b.Commit(t.Context())
}

func oldFiles(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("old a"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c"), []byte("old c"), 0o640))
	return dir
}

var (
	allOld = map[string]string{"a": "-rw------- old a", "c": "-rw-r----- old c"}
	allNew = map[string]string{"a": "-rw------- new a", "new/b": "-rw-r--r-- new b"}
)

// Whatever single step fails, all files are old, or all are new and only the
// clearing up has failed; what it left goes at the next start.
func TestBatchWithOneFailure(t *testing.T) {
	for name, disk := range map[string]afero.Fs{"links": linking{afero.NewOsFs()}, "no links": afero.NewOsFs()} {
		t.Run(name, func(t *testing.T) {
			failures := 0
			for n := 1; ; n++ {
				dir, notes := oldFiles(t), t.TempDir()
				j, err := OpenJournal(notes)
				require.NoError(t, err)
				f := &faulty{Fs: disk, n: n}
				err = change(t, &Writer{FS: f, Journal: j}, dir)
				die(t, j)
				if f.count < n {
					require.NoError(t, err)
					require.Equal(t, allNew, contents(t, dir))
					break
				}
				failures++
				_, recovered := Recover(notes, disk)
				require.NoError(t, recovered)
				got := contents(t, dir)
				if err != nil && got["a"] == allOld["a"] {
					require.Equal(t, allOld, got, "failure %d", n)
					require.NoDirExists(t, filepath.Join(dir, "new"), "failure %d", n)
				} else {
					require.Equal(t, allNew, got, "failure %d", n)
				}
				require.Empty(t, names(t, afero.NewOsFs(), notes))
			}
			require.Greater(t, failures, 20, "the test injects too little")
		})
	}
}

// When the disk stays broken nothing can be taken back at once. The error says
// so, and the next start does it.
func TestBatchOnADiskThatStaysBroken(t *testing.T) {
	half := 0
	for n := 1; ; n++ {
		dir, notes := oldFiles(t), t.TempDir()
		j, err := OpenJournal(notes)
		require.NoError(t, err)
		f := &faulty{Fs: linking{afero.NewOsFs()}, n: n, forever: true}
		err = change(t, &Writer{FS: f, Journal: j}, dir)
		if f.count < n {
			require.NoError(t, j.Close())
			break
		}
		var stuck *HalfError
		if errors.As(err, &stuck) {
			half++
			require.NotEmpty(t, stuck.Names)
			require.ErrorIs(t, err, errInjected)
			require.NoError(t, j.Close(), "even after an orderly end")
		} else {
			die(t, j)
		}
		_, err = Recover(notes, linking{afero.NewOsFs()})
		require.NoError(t, err)
		if got := contents(t, dir); got["a"] == allOld["a"] {
			require.Equal(t, allOld, got, "failure %d", n)
		} else {
			require.Equal(t, allNew, got, "failure %d", n)
		}
		require.Empty(t, names(t, afero.NewOsFs(), notes))
	}
	require.NotZero(t, half, "no failure came between two renames")
}

// die lets go of a journal as the end of a process does.
func die(t *testing.T, j *Journal) {
	t.Helper()
	require.NoError(t, j.file.Close())
}

func TestBatchGuardsAreAskedBeforeAnyChange(t *testing.T) {
	dir := oldFiles(t)
	w := Writer{FS: linking{afero.NewOsFs()}}
	b := w.Begin()
	require.NoError(t, b.Write(t.Context(), to(filepath.Join(dir, "a"), "new a")))
	no := errors.New("no")
	require.NoError(t, b.Remove(filepath.Join(dir, "c"), func() error { return no }))
	require.ErrorIs(t, b.Commit(t.Context()), no)
	require.NoError(t, b.Close())
	require.NoError(t, b.Close())
	require.Equal(t, allOld, contents(t, dir))
}

// What someone else has changed after a crash is not taken back.
func TestRecoveryLeavesWhatOthersHaveWritten(t *testing.T) {
	dir, notes := oldFiles(t), t.TempDir()
	j, err := OpenJournal(notes)
	require.NoError(t, err)
	w := Writer{FS: linking{afero.NewOsFs()}, Journal: j}
	b := w.Begin()
	require.NoError(t, b.Write(t.Context(), to(filepath.Join(dir, "a"), "new a")))
	for _, s := range b.steps {
		require.NoError(t, s.keepOld(t.Context(), j))
	}
	_, err = j.commit(b)
	require.NoError(t, err)
	require.NoError(t, b.steps[0].carryOut())
	die(t, j)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("theirs"), 0o600))
	_, err = Recover(notes, linking{afero.NewOsFs()})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "-rw------- theirs", "c": allOld["c"]}, contents(t, dir))
}

func TestScratchGoesWithTheProcess(t *testing.T) {
	notes := t.TempDir()
	for _, end := range []func(*Journal) error{
		func(j *Journal) error { return j.Close() },
		func(j *Journal) error { return j.file.Close() }, // killed
	} {
		j, err := OpenJournal(notes)
		require.NoError(t, err)
		dir, err := j.Scratch()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o600))
		_, err = Recover(notes, afero.NewOsFs())
		require.NoError(t, err)
		require.FileExists(t, filepath.Join(dir, "x"), "it belongs to the living")
		require.NoError(t, end(j))
		_, err = Recover(notes, afero.NewOsFs())
		require.NoError(t, err)
		require.Empty(t, names(t, afero.NewOsFs(), notes))
	}
}
