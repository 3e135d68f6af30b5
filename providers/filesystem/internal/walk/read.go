package walk

import (
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/agentco/agent/providers/filesystem/internal/ignore"
	"github.com/agentco/agent/sdk/jail"
)

// read looks at what is in the directory of n. It visits the first files itself
// and returns nodes for the others and for the directories.
func (w *walker[T]) read(n *node[T], dir *held, count *Count) (below []*node[T]) {
	entries, hidden, err := dir.Entries()
	count.Denied += hidden
	if err != nil {
		count.Unread++
	}
	slices.SortFunc(entries, func(a, b jail.Entry) int { return strings.Compare(a.Name, b.Name) })
	path := w.path
	if n.rel != "" {
		path = strings.TrimSuffix(path, "/") + "/" + n.rel
	}
	rules := Rules(w.Tree, n.rules, dir.Dir, path, entries)
	files := entries[:0]
	for _, e := range entries {
		switch {
		case w.stopped.Load():
			return below
		case e.Name == ".git":
		case e.Type.IsDir():
			below = w.enter(below, n, dir, e.Name, rules, path, count)
		case w.Keep != nil && !w.Keep(n.rel, e.Name):
		case rules.Ignored(path, e.Name, false):
			count.IgnoredFiles++
		default:
			files = append(files, e)
		}
	}
	return w.share(n, dir, files, below, count)
}

// enter adds a node for a directory that is to be looked into.
func (w *walker[T]) enter(below []*node[T], n *node[T], dir *held, name string, rules *ignore.Rules, path string, count *Count) []*node[T] {
	rel := Join(n.rel, name)
	if w.Enter != nil && !w.Enter(rel) {
		return below
	}
	if rules.Ignored(path, name, true) {
		count.IgnoredDirs++
		return below
	}
	return append(below, &node[T]{in: dir, name: name, rel: rel, rules: rules})
}

// share visits some of the files and makes nodes of the others, which come
// before the directories below.
func (w *walker[T]) share(n *node[T], dir *held, files []jail.Entry, below []*node[T], count *Count) []*node[T] {
	now := files[:min(batch, len(files))]
	if len(now) > 0 {
		w.visit(n, dir, now, count)
	}
	var later []*node[T]
	for part := range slices.Chunk(files[len(now):], batch) {
		later = append(later, &node[T]{in: dir, rel: n.rel, files: part})
	}
	return append(later, below...)
}

// Rules are those that hold in a directory with these entries, sorted by name,
// where others hold above it.
func Rules(tree *ignore.Tree, above *ignore.Rules, dir Dir, path string, entries []jail.Entry) *ignore.Rules {
	if tree == nil {
		return nil
	}
	_, repository := find(entries, ".git")
	at, found := find(entries, ".gitignore")
	if !repository && (!found || entries[at].Type != 0) {
		return above
	}
	var body []byte
	if found && entries[at].Type == 0 {
		body = readAll(dir, ".gitignore")
	}
	return tree.Enter(above, path, repository, body)
}

func find(entries []jail.Entry, name string) (int, bool) {
	return slices.BinarySearchFunc(entries, name, func(e jail.Entry, name string) int { return strings.Compare(e.Name, name) })
}

// readAll returns the text of a file, or nothing if it cannot be read.
func readAll(dir Dir, name string) []byte {
	f, err := dir.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // opened for reading only
	body, _ := io.ReadAll(io.LimitReader(f, ignore.MaxFile))
	return body
}

// Regular reports whether e is an ordinary file.
func Regular(e jail.Entry) bool { return e.Type&fs.ModeType == 0 }
