package repo

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Notes about this working tree are kept in git's folder for it, one file a name, where neither git nor a clone sees them.
const notesFolder = "release-tools"

// WriteNote keeps a note. Whoever reads it meanwhile, or after a kill, sees the old one or the new one.
func (r *Repo) WriteNote(name string, content []byte) error {
	path := r.notePath(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temp := path + "." + rand.Text()
	err := os.WriteFile(temp, content, 0o600)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return err
}

// ReadNote returns a note; the error is fs.ErrNotExist when there is none.
func (r *Repo) ReadNote(name string) ([]byte, error) { return os.ReadFile(r.notePath(name)) }

// DropNote removes a note. That it is gone already is no error.
func (r *Repo) DropNote(name string) error {
	err := os.Remove(r.notePath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	_ = os.Remove(r.path(notesFolder)) // when it was the last
	return err
}

// Notes returns the names of all notes, in order.
func (r *Repo) Notes() ([]string, error) {
	files, err := os.ReadDir(r.path(notesFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, f := range files {
		escaped, ok := strings.CutSuffix(f.Name(), ".json")
		if name, err := url.PathUnescape(escaped); ok && err == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

func (r *Repo) notePath(name string) string {
	return filepath.Join(r.path(notesFolder), url.PathEscape(name)+".json")
}
