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
	return errors.Join(os.Remove(j.file.Name()), j.file.Close())
}

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
	if j.active--; j.active > 0 || j.length < roomy {
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
		if !strings.HasSuffix(entry.Name(), journalSuffix) {
			continue
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
	finished := true
	for lines := bufio.NewScanner(f); lines.Scan(); {
		temp, err := strconv.Unquote(lines.Text())
		if err != nil || !IsTemp(temp) {
			continue // a line cut short by the crash, before its file was made
		}
		switch err := files.Remove(temp); {
		case err == nil:
			removed++
		case !errors.Is(err, fs.ErrNotExist):
			finished = false
		}
	}
	if finished {
		return removed, os.Remove(name)
	}
	return removed, nil
}
