package repo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
)

// location says where the parts of a repository lie.
type location struct{ root, gitDir, common string }

// Root returns the root of the working tree that holds dir, links resolved. It looks at no more than the folders, so it
// works for repositories that cannot be opened. fs.ErrNotExist is among the causes when there is none.
func Root(dir string) (string, error) {
	start, err := filepath.EvalSymlinks(dir) //nolint:forbidigo // where to begin looking; nothing is opened by it
	if err != nil {
		return "", refusal.Missing("not-a-repository", "cannot look for a repository at %s: %w", dir, err)
	}
	for at := start; ; at = filepath.Dir(at) {
		if isRepository(filepath.Join(at, ".git")) {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", refusal.Missing("not-a-repository",
				"no git repository holds %s: run git init there, or call from inside a working tree", dir)
		}
	}
}

// isRepository reports whether a ".git" makes a repository of its folder. One that is a folder without a HEAD does not, for
// git either.
func isRepository(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return !errors.Is(err, fs.ErrNotExist)
	}
	_, err = os.Lstat(filepath.Join(path, "HEAD"))
	return err == nil
}

func locate(dir string) (location, error) {
	root, err := Root(dir)
	if err != nil {
		return location{}, err
	}
	gitDir, err := followGitFile(filepath.Join(root, ".git"))
	if err != nil {
		return location{}, refusal.New("unsupported-repository", "cannot open the repository at %s: %w", root, err)
	}
	common, err := readPointer(filepath.Join(gitDir, "commondir"), "")
	if errors.Is(err, fs.ErrNotExist) {
		common, err = gitDir, nil
	}
	if err != nil {
		return location{}, refusal.New("unsupported-repository", "cannot open the repository at %s: %w", root, err)
	}
	return location{root, gitDir, common}, nil
}

// followGitFile returns the git folder behind a ".git", which is a file in linked worktrees and submodules.
func followGitFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return path, err
	}
	dir, err := readPointer(path, "gitdir: ")
	if err != nil {
		return "", err
	}
	_, err = os.Stat(dir)
	return dir, err
}

// readPointer reads a file that holds one path, relative to the file's folder.
func readPointer(file, prefix string) (string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimRight(string(raw), "\r\n"), prefix)
	if !ok || target == "" {
		return "", errors.New(file + " does not point to a git folder")
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(file), target)
	}
	return filepath.Clean(target), nil
}

// path is a file that belongs to this working tree alone, commonPath one that all of them share.
func (r *Repo) path(name string) string       { return filepath.Join(r.gitDir, name) }
func (r *Repo) commonPath(name string) string { return filepath.Join(r.common, name) }
