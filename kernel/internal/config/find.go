package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// FileName is the file that makes a folder a project.
const FileName = "agent.hcl"

// NoProjectError says that neither a folder nor any parent of it is a project.
type NoProjectError struct{ Dir string }

func (e *NoProjectError) Error() string {
	return fmt.Sprintf("no %s in %s or a parent of it: write one there with agent new, or name a project with -C DIR", FileName, e.Dir)
}

// Find returns the path of agent.hcl in dir or in the nearest parent that has one.
func Find(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("look for %s: %w", FileName, err)
	}
	for at := start; ; at = filepath.Dir(at) {
		path := filepath.Join(at, FileName)
		_, err := os.Lstat(path)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("look for %s: %w", FileName, err)
		}
		if at == filepath.Dir(at) {
			return "", &NoProjectError{Dir: start}
		}
	}
}
