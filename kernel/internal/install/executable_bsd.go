//go:build darwin || freebsd

package install

import "golang.org/x/sys/unix"

// onNoexec reports whether a path is on a file system that nothing is executed from.
func onNoexec(path string) bool {
	var s unix.Statfs_t
	return unix.Statfs(path, &s) == nil && s.Flags&unix.MNT_NOEXEC != 0
}
