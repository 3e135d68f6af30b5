package engine

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/adrg/xdg"

	"github.com/agentco/agent/kernel/internal/assistant"
)

// deciding are files and folders that decide what runs, beside the project's rules: what agent keeps for the user, how
// coding assistants start their servers (agent may be one of them, with --yes), and what git keeps of the project.
func deciding(root string) []string {
	var paths []string
	for _, folder := range []string{xdg.ConfigHome, xdg.StateHome, xdg.CacheHome} {
		paths = append(paths, filepath.Join(folder, "agent"))
	}
	home, _ := os.UserHomeDir() // without one there are only the project's
	paths = append(paths, assistant.Deciding(assistant.Places{Project: root, Home: home, System: runtime.GOOS, Getenv: os.Getenv})...)
	return append(paths, gitFolders(root)...)
}

// gitFolders are what git keeps of the repository that a root is in: .git, and in a worktree or a submodule where the
// file of that name says that it is.
func gitFolders(root string) []string {
	folder := root
	for {
		git := filepath.Join(folder, ".git")
		if info, err := os.Stat(git); err == nil && !strings.HasPrefix(root, git+string(filepath.Separator)) {
			if info.IsDir() {
				return []string{git}
			}
			return append([]string{git}, pointed(git)...)
		}
		above := filepath.Dir(folder)
		if above == folder {
			return nil
		}
		folder = above
	}
}

// pointed are the folder that a .git file names, and the one that it shares with other worktrees.
func pointed(file string) []string {
	named, ok := strings.CutPrefix(firstLine(file), "gitdir: ")
	if !ok {
		return nil
	}
	git := from(filepath.Dir(file), named)
	if common := firstLine(filepath.Join(git, "commondir")); common != "" {
		return []string{git, from(git, common)}
	}
	return []string{git}
}

func from(folder, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, path)
}

func firstLine(file string) string {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return ""
	}
	text, _ := os.ReadFile(file)
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimRight(line, "\r")
}
