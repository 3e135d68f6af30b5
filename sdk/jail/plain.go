package jail

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

// look says how a name is looked up.
type look struct {
	follow    bool // through a link at the end
	described bool // what is seen becomes a caller's, who may give it to [os.SameFile]
}

// sight is what a lookup sees of a file. Every [fs.FileInfo] is one; what a jail
// wants for itself is less, and is had with less.
type sight interface {
	Mode() fs.FileMode
	IsDir() bool
}

// plainly resolves a name in one step, if there is no link on its way, nor with
// follow at its end: nearly every name. It knows no more than [Jail.resolveOnce], which does all others.
func (j *Jail) plainly(name string, how look) (place, bool) {
	name, directory := strings.CutSuffix(name, string(filepath.Separator))
	if name != filepath.Clean(name) {
		return place{}, false
	}
	r, rel := j.unaliased(name)
	if r == nil || kernelTree(filepath.Join(r.dir, rel)) || j.denied(r, rel) {
		return place{}, false
	}
	info, certain := r.plain(rel, how.described)
	certain = certain && (!how.follow || !isLink(info)) && (!directory || info != nil && info.IsDir())
	return place{root: r, rel: rel, info: info}, certain
}

// plain looks up rel, a link as itself, without going through any. It is certain
// of what it found, or that there is nothing (a nil sight).
func (r *root) plain(rel string, described bool) (info sight, certain bool) {
	if r.direct != nil && (!described || strings.ContainsRune(rel, filepath.Separator)) {
		return r.lookDirectly(rel, described)
	}
	if strings.ContainsRune(rel, filepath.Separator) {
		return nil, false
	}
	// A name in the root itself has nothing on its way.
	found, err := r.handle.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, true
	case err != nil:
		return nil, false
	}
	return found, true
}

// unaliased finds the innermost root that holds name in either spelling.
func (j *Jail) unaliased(name string) (*root, string) {
	for _, r := range j.inner {
		if rel, ok := below(r.alias, name); ok && r.alias != "" && r.alias != r.dir {
			name = filepath.Join(r.dir, rel)
			break
		}
	}
	return j.rootOf(name)
}

func isLink(info sight) bool { return info != nil && info.Mode()&fs.ModeSymlink != 0 }
