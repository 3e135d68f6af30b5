//go:build !linux

package jail

import (
	"errors"
	"io/fs"
	"os"
)

// direct needs a system call that only Linux has. Elsewhere it tells one root
// from another.
type direct struct{ info fs.FileInfo }

func openDirect(handle *os.Root) (*direct, error) {
	info, err := handle.Stat(".")
	return &direct{info}, err
}

func (*direct) close() error { return nil }

func (*root) lookDirectly(string, bool) (sight, bool) { return nil, false }

func (place) openDirectly(int) *os.File { return nil }

// gone reports whether the root's name means another directory by now.
func (r *root) gone() bool {
	if r.direct == nil {
		return false // a pinned directory is to be kept whatever happens to its name
	}
	now, err := os.Stat(r.dir)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, r.direct.info)
}

// same reports whether two sights are of one file.
func same(a, b sight) bool {
	one, ok := a.(fs.FileInfo)
	other, otherOK := b.(fs.FileInfo)
	return ok && otherOK && os.SameFile(one, other)
}
