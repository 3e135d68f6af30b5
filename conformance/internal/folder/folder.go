// Package folder tells whether anything in a folder has changed.
package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// State is what a folder holds, by path.
type State map[string]item

type item struct {
	mode    fs.FileMode
	time    time.Time
	content string // a hash, or where a link leads
}

// Look reads a folder. Links are not followed, and what is neither file, folder nor link is not opened.
func Look(dir string) (State, error) {
	state := State{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		content, err := contentOf(path, info)
		state[name] = item{info.Mode(), info.ModTime().UTC(), content}
		return err
	})
	return state, err
}

func contentOf(path string, info fs.FileInfo) (string, error) {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return os.Readlink(path)
	case !info.Mode().IsRegular():
		return "", nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Timeless is the state without when anything was written.
func (s State) Timeless() State {
	out := State{}
	for name, e := range s {
		out[name] = item{mode: e.mode, content: e.content}
	}
	return out
}

// Changes names what is different in another state, sorted: "a.txt was changed".
func (s State) Changes(later State) (out []string) {
	for name, was := range s {
		switch is, ok := later[name]; {
		case !ok:
			out = append(out, name+" was removed")
		case is != was:
			out = append(out, name+" was changed")
		}
	}
	for name := range later {
		if _, ok := s[name]; !ok {
			out = append(out, name+" was added")
		}
	}
	slices.Sort(out)
	return out
}
