package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// outputsName is how the directories begin.
	outputsName = "provider-bash-"
	// keptFor is how long output is kept after the last of it was written.
	keptFor = 24 * time.Hour
	// keptSessions is how many directories are kept.
	keptSessions = 16
	// keptBytes is how much output is kept, in bytes; that of the newest directory whatever it is.
	keptBytes = 1 << 30
	// tidyEvery is how many files are made between two looks at those that a provider has made, which may live for weeks.
	tidyEvery = 32
)

// outputs is the directory that holds the whole output of commands that printed more
// than a result carries. Only its owner can read it, and it is made when it is first
// needed. It outlives its provider, since whoever made a single call reads the file
// afterwards; a later provider removes what is old or too much. A lock on a directory says
// that its provider lives.
type outputs struct {
	mu   sync.Mutex
	lock *os.File // the directory
	made int      // files
}

// create returns a new file. A command may have cleaned up the directory above ours.
func (o *outputs) create() (*os.File, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lock != nil {
		f, err := o.file()
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		_ = o.lock.Close() // of a directory that is gone
		o.lock = nil
	}
	if err := o.open(); err != nil {
		return nil, fmt.Errorf("make a directory for the output of commands: %w", err)
	}
	return o.file()
}

func (o *outputs) file() (*os.File, error) {
	if o.made++; o.made%tidyEvery == 0 {
		tidy(o.lock.Name())
	}
	return os.CreateTemp(o.lock.Name(), "output-*.txt")
}

// tidy removes the files to which nothing was written for long, and the oldest of what is too much. Who still has one open
// reads on.
func tidy(dir string) {
	var files []fs.FileInfo
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var total int64
	for _, f := range files {
		if total += f.Size(); total > keptBytes || time.Since(f.ModTime()) > keptFor {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}

// open makes the directory.
func (o *outputs) open() error {
	sweepOutputs()
	dir, err := os.MkdirTemp("", outputsName)
	if err != nil {
		return err
	}
	lock, err := lockDirectory(dir)
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	o.lock = lock
	return nil
}

// release lets go of the directory. Its files stay.
func (o *outputs) release() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lock == nil {
		return nil
	}
	dir := o.lock
	o.lock = nil
	return dir.Close()
}

// lockDirectory fails if another process holds the lock.
func lockDirectory(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(os.NewSyscallError("flock", err), f.Close())
	}
	return f, nil
}

// sweepOutputs removes what ended providers of this user left: all but the newest few, and
// those too after a while.
func sweepOutputs() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), outputsName+"*"))
	ended := map[string]time.Time{}
	for _, dir := range dirs {
		var info unix.Stat_t
		if err := unix.Lstat(dir, &info); err == nil && int(info.Uid) == os.Getuid() {
			ended[dir] = time.Unix(info.Mtim.Unix())
		}
	}
	newest := slices.SortedFunc(maps.Keys(ended), func(a, b string) int { return ended[b].Compare(ended[a]) })
	var total int64
	for i, dir := range newest {
		total += sizeOf(dir)
		if i < keptSessions && time.Since(ended[dir]) < keptFor && (i == 0 || total <= keptBytes) {
			continue
		}
		if lock, err := lockDirectory(dir); err == nil {
			_, _ = os.RemoveAll(dir), lock.Close()
		}
	}
}

// sizeOf is how much the files of a directory hold, in bytes.
func sizeOf(dir string) (total int64) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			total += info.Size()
		}
	}
	return total
}
