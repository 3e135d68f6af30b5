package session

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ended reports whether a session is its database alone.
func ended(path string) bool {
	for _, suffix := range []string{"-wal", "-journal", tailSuffix} {
		if info, err := os.Stat(path + suffix); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			return false
		}
	}
	return true
}

// connectCopy opens a copy of a session that is more than its database, where that cannot be written: to read it is to take
// the rest in.
func (f *File) connectCopy(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "agent-session-*")
	if err != nil {
		return err
	}
	f.at, f.live = filepath.Join(dir, filepath.Base(f.path)), alive(f.path)
	for _, suffix := range []string{tailSuffix, "-wal", "-journal", ""} { // the newest first, which may meanwhile go on to the next
		err = errors.Join(err, copyFile(f.path+suffix, f.at+suffix))
	}
	if err == nil {
		err = f.connect(ctx, "mode=rw")
	}
	if err != nil {
		f.dropCopy()
	}
	return err
}

// dropCopy takes the copy away, if there is one.
func (f *File) dropCopy() {
	if f.at != f.path {
		_ = os.RemoveAll(filepath.Dir(f.at)) // a temporary folder
		f.at = f.path
	}
}

// copyFile copies a file that may not be there. What is no file may have no end.
func copyFile(from, to string) (err error) {
	if info, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	source, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
