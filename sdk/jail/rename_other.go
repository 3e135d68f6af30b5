//go:build !linux

package jail

// renameNew looks and then moves: elsewhere than on Linux another process may
// come in between.
func (j *Jail) renameNew(source, target place) error {
	if err := absent(target.root.handle, target.rel); err != nil {
		return err
	}
	return source.root.handle.Rename(source.rel, target.rel)
}
