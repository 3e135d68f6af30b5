//go:build darwin || freebsd

package session

import (
	"slices"

	"golang.org/x/sys/unix"
)

// networkKind names the file system of a folder when it is one over a network; else it is empty.
var networkKind = func(dir string) (string, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return "", err
	}
	name := unix.ByteSliceToString(fs.Fstypename[:])
	if slices.Contains([]string{"nfs", "smbfs", "afpfs", "webdav", "ftp", "macfuse", "osxfuse", "fusefs", "fusefs.sshfs"}, name) {
		return name, nil
	}
	return "", nil
}
