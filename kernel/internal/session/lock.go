package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// lockOf is the file that the writers of a session hold shared for as long as they live. The system lets go of it
// however they end, so what can be had alone belongs to nobody. It is not the session itself, whose locks are SQLite's.
func lockOf(path string) string { return strings.TrimSuffix(path, extension) + ".lock" }

func newLock(path string) *flock.Flock {
	return flock.New(lockOf(path), flock.SetPermissions(0o600))
}

// hold marks a session as running until release. It waits for those that only look, which takes them no time.
func hold(path string) (*flock.Flock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	l := newLock(path)
	if err := l.RLock(); err != nil {
		return nil, fmt.Errorf("cannot lock %s: %w", l.Path(), err)
	}
	return l, nil
}

// release ends the mark, and takes the file away when nobody else holds it.
func release(l *flock.Flock) error {
	if err := l.Unlock(); err != nil {
		return err
	}
	if free, err := l.TryLock(); err != nil || !free {
		return err
	}
	return errors.Join(remove(l.Path()), l.Unlock())
}

// alive reports whether a process writes a session. It may only be wrong in that it says so too long.
func alive(path string) bool {
	if info, err := os.Stat(lockOf(path)); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return false
	}
	l := flock.New(lockOf(path), flock.SetFlag(os.O_RDONLY))
	free, err := l.TryLock()
	if free {
		_ = l.Unlock()
	}
	return err != nil || !free
}

// remove removes a file that may not be there.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
