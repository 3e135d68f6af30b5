package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// lockPause is how long one that waits for a lock waits between two looks at it.
const lockPause = 2 * time.Millisecond

// lockOf is the file that the writer of a session holds alone for as long as it lives. The system lets go of it however
// it ends, so what can be had shared is written by nobody. It is not the session itself, whose locks are SQLite's.
func lockOf(path string) string { return strings.TrimSuffix(path, extension) + ".lock" }

func newLock(path string) *flock.Flock {
	return flock.New(lockOf(path), flock.SetPermissions(0o600))
}

// hold marks a session as running until release. It waits for the writer before, and for those that only look, which
// takes them no time.
func hold(ctx context.Context, path string) (*flock.Flock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, busyTimeout)
	defer cancel()
	for {
		l := newLock(path)
		_, err := l.TryLockContext(ctx, lockPause)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return nil, errors.New("another process writes it")
		case err != nil:
			return nil, fmt.Errorf("cannot lock %s: %w", l.Path(), err)
		case current(l):
			return l, nil
		}
		if err := l.Unlock(); err != nil {
			return nil, err
		}
	}
}

// current reports whether a lock that is held is still the one that others will find: whoever waited for one that was
// taken away meanwhile holds what nobody else knows of.
func current(l *flock.Flock) bool {
	held, err := l.Stat()
	if err != nil {
		return false
	}
	found, err := os.Stat(l.Path())
	return err == nil && os.SameFile(held, found)
}

// seize takes the lock of a session alone, if nobody has it.
func seize(path string) (l *flock.Flock, free bool, err error) {
	l = newLock(path)
	free, err = l.TryLock()
	return holding(l, free, err)
}

// share takes the lock of a session that nobody writes, so that nobody begins to.
func share(path string) (l *flock.Flock, free bool, err error) {
	if info, err := os.Stat(lockOf(path)); err == nil && !info.Mode().IsRegular() {
		return nil, false, fmt.Errorf("%s is no file", lockOf(path))
	}
	l = newLock(path)
	free, err = l.TryRLock()
	return holding(l, free, err)
}

func holding(l *flock.Flock, free bool, err error) (*flock.Flock, bool, error) {
	if err != nil || !free {
		return nil, false, err
	}
	if !current(l) {
		return nil, false, l.Unlock()
	}
	return l, true, nil
}

// release ends what hold began, and takes the file away.
func release(l *flock.Flock) error { return errors.Join(remove(l.Path()), l.Unlock()) }

// alive reports whether a process writes a session. It may only be wrong in that it says so too long.
func alive(path string) bool {
	if info, err := os.Stat(lockOf(path)); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return false
	}
	l := flock.New(lockOf(path), flock.SetFlag(os.O_RDONLY))
	free, err := l.TryRLock()
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
