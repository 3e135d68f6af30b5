package install

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"
)

// Projects is the list of projects whose providers were installed here. Without it, nobody could tell which providers in
// the cache are still needed.
type Projects struct {
	// Dir is $XDG_STATE_HOME/agent/projects. Each project is a file in it, so that two that are added at once do not
	// overwrite each other.
	Dir string
}

// UserProjects are those of this user.
func UserProjects() Projects { return Projects{Dir: filepath.Join(xdg.StateHome, "agent", "projects")} }

// Add notes the project in root. It is cheap when it is known already.
func (p Projects) Add(root string) error {
	path := p.file(root)
	content := []byte(root + "\n")
	if known, err := readRegular(path); err == nil && bytes.Equal(known, content) {
		return nil
	}
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return err
	}
	clearNew(p.Dir, time.Now())
	temp, err := os.CreateTemp(p.Dir, newPrefix+"*")
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	if err = errors.Join(err, temp.Chmod(0o600), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

// Remove forgets the project in root.
func (p Projects) Remove(root string) error {
	err := os.Remove(p.file(root))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// All are the roots of the projects, sorted. They may not exist any more.
func (p Projects) All() ([]string, error) {
	entries, err := os.ReadDir(p.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var roots []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), newPrefix) { // it is being added, or was when somebody was killed
			continue
		}
		content, err := readRegular(filepath.Join(p.Dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) { // it was removed meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		root := string(bytes.TrimSuffix(content, []byte("\n")))
		if filepath.Base(p.file(root)) == e.Name() { // else it is a leftover of Add
			roots = append(roots, root)
		}
	}
	slices.Sort(roots)
	return roots, nil
}

func (p Projects) file(root string) string { return filepath.Join(p.Dir, short(root)) }
