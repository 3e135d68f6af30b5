package jail

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNew moves source to target in one step that fails if something is there.
func renameNew(source, target place) error {
	return across(source, target, func(old int, from string, fresh int, to string) error {
		err := unix.Renameat2(old, from, fresh, to, unix.RENAME_NOREPLACE)
		if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
			return err
		}
		// Not every filesystem can.
		if err := unix.Fstatat(fresh, to, &unix.Stat_t{}, unix.AT_SYMLINK_NOFOLLOW); !errors.Is(err, unix.ENOENT) {
			return firstError(err, unix.EEXIST)
		}
		return unix.Renameat(old, from, fresh, to)
	})
}
