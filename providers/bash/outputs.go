package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// outputsName is how the directories begin.
const outputsName = "provider-bash-"

// outputs is the directory that holds the whole output of commands that printed more
// than a result carries. Only its owner can read it, it is made when it is first needed,
// and it goes when the provider does: a lock on it says whether its provider lives, so
// that what a killed one left is found and removed by the next.
type outputs struct {
	mu   sync.Mutex
	lock *os.File // the directory
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
		if err := o.drop(); err != nil {
			return nil, err
		}
	}
	if err := o.open(); err != nil {
		return nil, fmt.Errorf("make a directory for the output of commands: %w", err)
	}
	return o.file()
}

func (o *outputs) file() (*os.File, error) { return os.CreateTemp(o.lock.Name(), "output-*.txt") }

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

// remove removes the directory with all that is in it.
func (o *outputs) remove() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lock == nil {
		return nil
	}
	return o.drop()
}

func (o *outputs) drop() error {
	dir := o.lock
	o.lock = nil
	return errors.Join(os.RemoveAll(dir.Name()), dir.Close())
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

// sweepOutputs removes the directories of this user whose provider is gone.
func sweepOutputs() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), outputsName+"*"))
	for _, dir := range dirs {
		var info unix.Stat_t
		if err := unix.Lstat(dir, &info); err != nil || int(info.Uid) != os.Getuid() {
			continue
		}
		if lock, err := lockDirectory(dir); err == nil {
			_, _ = os.RemoveAll(dir), lock.Close()
		}
	}
}
