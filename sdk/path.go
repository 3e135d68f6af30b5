package sdk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/agentco/agent/sdk/internal/config"
)

// Dir is an attribute that names an existing directory. It is absolute in Go; a relative one is taken from the root of
// the project, and ~ is the home directory. A wrong one is refused in Configure. For files that calls name, use a
// [Root]: a path joined to a Dir can leave it.
type Dir string

// File is an attribute that names an existing regular file, in everything else like [Dir].
type File string

// pathTypes are the attributes that are more than their text.
var pathTypes = config.Texts{
	reflect.TypeFor[Root](): func(dir, text string) (any, io.Closer, error) {
		path, err := existing(dir, text, fs.FileMode.IsDir, "a directory")
		if err != nil {
			return nil, nil, err
		}
		return openRoot(path)
	},
	reflect.TypeFor[Dir](): func(dir, text string) (any, io.Closer, error) {
		path, err := existing(dir, text, fs.FileMode.IsDir, "a directory")
		return Dir(path), nil, err
	},
	reflect.TypeFor[File](): func(dir, text string) (any, io.Closer, error) {
		path, err := existing(dir, text, fs.FileMode.IsRegular, "a regular file")
		return File(path), nil, err
	},
}

// existing makes text absolute and looks whether something of the right kind is there. It opens nothing, so a named
// pipe cannot hold it up.
func existing(dir, text string, fits func(fs.FileMode) bool, kind string) (string, error) {
	if text == "" {
		return "", fmt.Errorf("must not be empty; name %s, and the root of the project as a dot", kind)
	}
	path, err := absolute(dir, text)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("must be %s that exists; there is no %s", kind, shownPath(path))
	case err != nil:
		return "", fmt.Errorf("must be %s; %s cannot be looked at: %w", kind, shownPath(path), reasonOf(err))
	case !fits(info.Mode()):
		return "", fmt.Errorf("must be %s, which %s is not", kind, shownPath(path))
	}
	return path, nil
}

func absolute(dir, text string) (string, error) {
	switch {
	case text == "~" || strings.HasPrefix(text, "~/"):
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("starts with ~, and the home directory is not known: %w", err)
		}
		return filepath.Join(home, text[1:]), nil
	case strings.HasPrefix(text, "~"):
		return "", fmt.Errorf("is %s; the home of another user has to be written out, and a name that starts with ~ as ./%s", shownPath(text), shownPath(text))
	case filepath.IsAbs(text):
		return filepath.Clean(text), nil
	case dir == "":
		return "", fmt.Errorf("is the relative path %s, and the root of the project is not known", shownPath(text))
	}
	return filepath.Join(dir, text), nil
}
