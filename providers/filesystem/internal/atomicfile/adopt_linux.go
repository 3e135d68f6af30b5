package atomicfile

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"
)

// adoptOwner gives f the owner and group in info.
func adoptOwner(f afero.File, info fs.FileInfo) error {
	want, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil // a filesystem without owners
	}
	now, err := f.Stat()
	if err != nil {
		return err
	}
	have, ok := now.Sys().(*syscall.Stat_t)
	if !ok || have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	return control(f, func(fd int) error { return unix.Fchown(fd, int(want.Uid), int(want.Gid)) })
}

// adoptAttributes gives f the extended attributes of old, access control lists
// among them, and no others. Those of the system's own bookkeeping are copied
// where it allows.
func adoptAttributes(f, old afero.File) error {
	return control(old, func(from int) error {
		names, err := attributeNames(from)
		if err != nil {
			return err
		}
		return control(f, func(to int) error {
			if err := dropAttributes(to, names); err != nil {
				return err
			}
			for _, name := range names {
				if err := copyAttribute(to, from, name); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// dropAttributes removes all attributes that are not to be kept: a new file may
// have got an access control list from its directory.
func dropAttributes(fd int, keep []string) error {
	names, err := attributeNames(fd)
	if err != nil {
		return err
	}
	for _, name := range names {
		if slices.Contains(keep, name) || !significant(name) {
			continue
		}
		if err := unix.Fremovexattr(fd, name); err != nil && !errors.Is(err, unix.ENODATA) {
			return err
		}
	}
	return nil
}

// significant reports whether an attribute belongs to the file's owner, and not
// to the system.
func significant(name string) bool {
	return strings.HasPrefix(name, "user.") || strings.HasPrefix(name, "system.posix_acl_")
}

func attributeNames(fd int) ([]string, error) {
	list, err := grow(func(buf []byte) (int, error) { return unix.Flistxattr(fd, buf) })
	if errors.Is(err, unix.ENOTSUP) {
		return nil, nil
	}
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00"), nil
}

func copyAttribute(to, from int, name string) error {
	if name == "security.capability" { // the kernel drops it from a file that is written to
		return nil
	}
	value, err := grow(func(buf []byte) (int, error) { return unix.Fgetxattr(from, name, buf) })
	if err == nil {
		err = unix.Fsetxattr(to, name, value, 0)
	}
	if err == nil || !significant(name) && (errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOTSUP)) {
		return nil
	}
	return err
}

// grow calls read with larger buffers until the answer fits.
func grow(read func([]byte) (int, error)) ([]byte, error) {
	for size := 1 << 10; ; size *= 4 {
		buf := make([]byte, size)
		n, err := read(buf)
		if errors.Is(err, unix.ERANGE) && size < 1<<20 {
			continue
		}
		return buf[:max(n, 0)], err
	}
}

// control runs do on the descriptor of f, if it has one.
func control(f afero.File, do func(fd int) error) error {
	c, ok := f.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = do(int(fd)) }); err != nil {
		return err
	}
	return failed
}
