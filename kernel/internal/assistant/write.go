package assistant

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrChanged says that somebody else has written the file meanwhile. It is as they left it.
var ErrChanged = errors.New("it was changed by somebody else just now")

// Read returns the content of a client's file; nil when there is no file.
func Read(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

// Replace puts one content into the place of another that was read before, all of it or nothing. The file keeps its
// mode, and one that is a link stays one; a new one has the given mode, and folders are made for it.
func Replace(path string, was, content []byte, mode fs.FileMode) error {
	path, err := followed(path)
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".agent-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err == nil {
		err = unchanged(path, was)
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

// unchanged makes the time short in which a client could write its file too: some do it all the time.
func unchanged(path string, was []byte) error {
	now, err := Read(path)
	if err == nil && !bytes.Equal(now, was) {
		return ErrChanged
	}
	return err
}

// mostLinks is how many links a path may go through, as systems have it.
const mostLinks = 40

// followed is where a path leads, whether or not there is anything yet: people keep their settings elsewhere and link
// to them.
func followed(path string) (string, error) {
	for range mostLinks {
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link, or nothing
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", &fs.PathError{Op: "follow", Path: path, Err: errors.New("too many links")}
}
