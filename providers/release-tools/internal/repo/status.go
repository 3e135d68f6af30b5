package repo

import (
	"context"
	"strings"
)

// Change is a tracked file that is not as HEAD has it.
type Change struct {
	Path     string // with slashes, from the root
	Code     string // the two letters of git status
	Unmerged bool
}

// Changes lists what differs from HEAD among tracked files and submodules, with git's own verdict and without touching
// the index. Untracked files are not looked for.
func (r *Repo) Changes(ctx context.Context) ([]Change, error) {
	out, err := r.run(ctx, call{args: []string{"status", "--porcelain=v2", "-z", "--untracked-files=no", "--no-renames"}})
	if err != nil {
		return nil, failed(err, "cannot tell what changed in %s", r.Root)
	}
	var changes []Change
	for entry := range strings.SplitSeq(out, "\x00") {
		fields := map[byte]int{'1': 9, 'u': 11} // how many fields the two kinds of entry have, the path last
		if entry == "" || fields[entry[0]] == 0 {
			continue
		}
		parts := strings.SplitN(entry, " ", fields[entry[0]])
		changes = append(changes, Change{Path: parts[len(parts)-1], Code: parts[1], Unmerged: entry[0] == 'u'})
	}
	return changes, nil
}

// literal is a pathspec that means one path, whatever characters it holds. The environment variable for it would reach
// the hooks and change what theirs mean.
func literal(path string) string { return ":(top,literal)" + path }
