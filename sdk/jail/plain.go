package jail

import (
	"io/fs"
	"path/filepath"
)

// plainly resolves a name in one step, if there is no link on its way, nor with
// follow at its end: nearly every name. It knows no more than [Jail.resolveOnce], which does all others.
func (j *Jail) plainly(name string, follow bool) (place, bool) {
	if name != filepath.Clean(name) {
		return place{}, false
	}
	r, rel := j.unaliased(name)
	if r == nil || r.dirfd == nil || kernelTree(filepath.Join(r.dir, rel)) || j.denied(r, rel) {
		return place{}, false
	}
	info, certain := r.plain(rel)
	certain = certain && (!follow || !isLink(info))
	return place{root: r, rel: rel, info: info}, certain
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

func isLink(info fs.FileInfo) bool { return info != nil && info.Mode()&fs.ModeSymlink != 0 }
