//go:build !linux

package jail

import "io/fs"

// renameNew looks and then moves: elsewhere than on Linux another process may
// come in between.
func renameNew(source, target place) error {
	switch info, err := target.root.confirm(target.rel, false); {
	case err != nil:
		return err
	case info != nil:
		return fs.ErrExist
	}
	return renameAcross(source, target)
}
