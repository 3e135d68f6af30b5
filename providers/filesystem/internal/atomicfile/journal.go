package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/afero"
)

const journalSuffix = ".journal"

// Journal lists the temporary files this process has open, on disk, so that the
// next process can remove what a killed one left behind. Each process has a file
// of its own and holds a lock on it; a lock that can be had belongs to the dead.
// A nil Journal remembers nothing.
type Journal struct {
	mu     sync.Mutex
	file   *os.File
	active int
	length int
	kept   bool // a batch is to be taken back by the next process
}

// roomy is how long the notes may grow before those that are done are dropped.
// A line too many does no harm, for what it names does not exist, while
// emptying the file each time makes every flush to the disk slower.
const roomy = 64 << 10

// OpenJournal begins a journal in dir, which is made if missing. The caller
// closes it.
func OpenJournal(dir string) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for {
		f, err := os.CreateTemp(dir, "*"+journalSuffix)
		if err != nil {
			return nil, err
		}
		ours, err := claim(f)
		if err != nil {
			return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
		if ours {
			return &Journal{file: f}, nil
		}
		// Another process took the still unlocked file for one of the dead.
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// Close ends the journal and removes its file.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	if j.kept {
		return j.file.Close()
	}
	removed := os.Remove(j.file.Name())
	if errors.Is(removed, fs.ErrNotExist) { // whoever empties the cache is free to
		removed = nil
	}
	return errors.Join(os.RemoveAll(j.scratch()), removed, j.file.Close())
}

// Scratch makes a directory in which this process may keep what nobody else
// should see. It goes with the journal.
func (j *Journal) Scratch() (string, error) {
	dir := j.scratch()
	return dir, os.MkdirAll(dir, 0o700)
}

func (j *Journal) scratch() string { return scratchOf(j.file.Name()) }

func scratchOf(journal string) string { return strings.TrimSuffix(journal, journalSuffix) + ".kept" }

// Note remembers a temporary file, or directory, that the caller makes, and
// returns what to call when it is gone.
func (j *Journal) Note(temp string) (done func()) { return j.begin(temp) }

// begin notes temp and returns what to call when it is gone. A note that cannot
// be made keeps nobody from writing: all it costs is a file left by a crash.
func (j *Journal) begin(temp string) (done func()) {
	if j == nil {
		return func() {}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	n, _ := j.file.WriteString(strconv.Quote(temp) + "\n")
	j.length += n
	j.active++
	return j.end
}

func (j *Journal) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.active--; j.active > 0 || j.length < roomy || j.kept {
		return
	}
	if _, err := j.file.Seek(0, io.SeekStart); err == nil && j.file.Truncate(0) == nil {
		j.length = 0
	}
}

// Recover removes from files what processes that are dead left there, by the
// journals in dir, and says how many files that were. What lies outside files
// stays noted for a process that may reach it.
func Recover(dir string, files afero.Fs) (removed int, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), journalSuffix) || !entry.Type().IsRegular() {
			continue // a pipe of this name would keep the start waiting
		}
		n, failed := recoverOne(filepath.Join(dir, entry.Name()), files)
		removed, err = removed+n, errors.Join(err, failed)
	}
	return removed, err
}

func recoverOne(name string, files afero.Fs) (removed int, err error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	dead, err := claim(f)
	if err != nil || !dead {
		return 0, err
	}
	temps, batches := read(f)
	finished := true
	var made []string
	for _, b := range batches {
		if b.takeBack(files) != nil {
			finished = false
		}
		made = append(made, b.made...)
	}
	if !finished { // what it set aside is still needed
		return 0, nil
	}
	for _, temp := range temps {
		switch err := remove(files, temp); {
		case err == nil:
			removed++
		case !errors.Is(err, fs.ErrNotExist):
			finished = false
		}
	}
	removeMade(files, made)
	err = os.RemoveAll(scratchOf(name))
	if finished {
		err = errors.Join(err, os.Remove(name))
	}
	return removed, err
}

// read returns the temporary files and the unfinished batches of a journal. A
// last line that the crash cut short is about what had not begun.
func read(journal io.Reader) (temps []string, batches map[string]*noted) {
	batches = map[string]*noted{}
	lines := bufio.NewScanner(journal)
	lines.Buffer(nil, roomy)
	for lines.Scan() {
		temp, err := strconv.Unquote(lines.Text())
		switch {
		case err != nil:
			batchLine(lines.Text(), batches)
		case IsTemp(temp):
			temps = append(temps, temp)
		}
	}
	return temps, batches
}

// remove removes a temporary file, or a directory with what is in it.
func remove(files afero.Fs, temp string) error {
	err := files.Remove(temp)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if info, statErr := lstat(files, temp); statErr == nil && info.IsDir() {
		return files.RemoveAll(temp)
	}
	return err
}
