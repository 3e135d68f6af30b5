package jail

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// plain looks up rel, a link as itself, without going through any. It is certain of what it
// found, or that there is nothing (a nil info). Kernels before 5.6 and some
// sandboxes lack the call: then it is never certain.
func (r *root) plain(rel string) (info fs.FileInfo, certain bool) {
	raw, err := r.dirfd.SyscallConn()
	if err != nil {
		return nil, false
	}
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	}
	fd := -1
	if controlErr := raw.Control(func(dir uintptr) { fd, err = unix.Openat2(int(dir), rel, &how) }); controlErr != nil {
		return nil, false
	}
	if errors.Is(err, unix.ENOENT) {
		return nil, true
	}
	if err != nil {
		return nil, false
	}
	f := os.NewFile(uintptr(fd), rel)
	info, err = f.Stat()
	return info, f.Close() == nil && err == nil
}
