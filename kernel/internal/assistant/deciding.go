package assistant

import (
	"path/filepath"
	"slices"
)

// Deciding are the files by which the known clients decide what they run, in the project and of the user: those that Edit is
// for, and where such a file is in a folder of its client's, the folder, since tasks and hooks are beside it. All are absolute;
// what a place is missing for is left out.
func Deciding(p Places) []string {
	var paths []string
	for _, client := range Clients() {
		for _, scope := range []Scope{Project, User} {
			paths = append(paths, client.deciding(p, scope)...)
		}
	}
	slices.Sort(paths)
	return slices.DeleteFunc(slices.Compact(paths), func(path string) bool { return !filepath.IsAbs(path) })
}

func (c *Client) deciding(p Places, s Scope) []string {
	file := c.file(p, s)
	paths := []string{file}
	if folder := filepath.Dir(file); folder != p.Home && !holds(folder, p.Project) {
		paths = []string{folder}
	}
	if c.hooks == nil {
		return paths
	}
	if folder := c.hooks(p, s); !holds(folder, p.Project) {
		return append(paths, folder)
	}
	return append(paths, filepath.Join(c.hooks(p, s), "settings.json"))
}

// holds reports whether a project is in a folder: some clients keep worktrees in theirs, where all else is the project's.
func holds(folder, project string) bool {
	rel, err := filepath.Rel(folder, project)
	return err == nil && filepath.IsLocal(rel)
}
