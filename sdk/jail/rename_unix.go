//go:build unix

package jail

import "golang.org/x/sys/unix"

func renameAcross(source, target place) error { return across(source, target, unix.Renameat) }

func linkAcross(source, target place) error {
	return across(source, target, func(old int, from string, fresh int, to string) error {
		return unix.Linkat(old, from, fresh, to, 0)
	})
}

// across does something with two names by the directories that they are in, both
// held: nothing that happens to the paths above can redirect it.
func across(source, target place, do func(old int, from string, fresh int, to string) error) error {
	return source.at(func(old int, from string) error {
		return target.at(func(fresh int, to string) error { return do(old, from, fresh, to) })
	})
}

// at calls do with the descriptor of the directory of p.
func (p place) at(do func(dir int, base string) error) error {
	dir, err := p.hold()
	if err != nil {
		return err
	}
	f, err := dir.Open(".")
	if err != nil {
		return firstError(err, dir.release())
	}
	return firstError(do(int(f.Fd()), dir.base), f.Close(), dir.release())
}
