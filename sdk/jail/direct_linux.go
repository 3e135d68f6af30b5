package jail

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// direct reaches what is below a root in one system call, which goes through no
// link and not out of the root. Kernels before 5.6 and some sandboxes lack it:
// then, and whenever it fails, the way over [os.Root] decides.
type direct struct {
	dir      *os.File
	raw      syscall.RawConn
	dev, ino uint64 // of dir
}

// openDirect opens the directory of handle for direct use.
func openDirect(handle *os.Root) (*direct, error) {
	dir, err := handle.Open(".")
	if err != nil {
		return nil, err
	}
	raw, err := dir.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	d := &direct{dir: dir, raw: raw}
	node, err := d.lstat(".")
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	d.dev, d.ino = node.dev, node.ino
	return d, nil
}

func (d *direct) close() error { return d.dir.Close() }

// node is the sight of a file by its number.
type node struct {
	mode     fs.FileMode
	dev, ino uint64
}

// Mode implements [sight].
func (n *node) Mode() fs.FileMode { return n.mode }

// IsDir implements [sight].
func (n *node) IsDir() bool { return n.mode.IsDir() }

func nodeOf(st *unix.Stat_t) *node {
	return &node{mode: modeOf(st.Mode), dev: uint64(st.Dev), ino: st.Ino} //nolint:unconvert // not everywhere
}

// same reports whether two sights are of one file.
func same(a, b sight) bool {
	dev, ino, ok := number(a)
	otherDev, otherIno, otherOK := number(b)
	return ok && otherOK && dev == otherDev && ino == otherIno
}

func number(s sight) (dev, ino uint64, ok bool) {
	switch s := s.(type) {
	case *node:
		return s.dev, s.ino, true
	case fs.FileInfo:
		if st, ok := s.Sys().(*syscall.Stat_t); ok {
			return uint64(st.Dev), st.Ino, true //nolint:unconvert // not everywhere
		}
	}
	return 0, 0, false
}

// open opens rel. Its error says no more than that it did not work.
func (d *direct) open(rel string, flags int) (fd int, err error) {
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_NOFOLLOW | unix.O_CLOEXEC),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	}
	fd = -1
	if controlErr := d.raw.Control(func(dir uintptr) { fd, err = unix.Openat2(int(dir), rel, &how) }); controlErr != nil {
		return -1, controlErr
	}
	return fd, err
}

// lstat describes rel, a name in the directory itself.
func (d *direct) lstat(rel string) (n *node, err error) {
	controlErr := d.raw.Control(func(dir uintptr) {
		var st unix.Stat_t
		if err = unix.Fstatat(int(dir), rel, &st, unix.AT_SYMLINK_NOFOLLOW); err == nil {
			n = nodeOf(&st)
		}
	})
	return n, firstError(controlErr, err)
}

// lookDirectly looks up rel in one go.
func (r *root) lookDirectly(rel string, described bool) (sight, bool) {
	if !described && !strings.ContainsRune(rel, filepath.Separator) {
		n, err := r.direct.lstat(rel)
		if err != nil {
			return nil, errors.Is(err, unix.ENOENT)
		}
		return n, true
	}
	fd, err := r.direct.open(rel, unix.O_PATH)
	if err != nil {
		return nil, errors.Is(err, unix.ENOENT)
	}
	if described {
		f := os.NewFile(uintptr(fd), rel)
		info, err := f.Stat()
		return info, f.Close() == nil && err == nil
	}
	n, err := fstat(fd)
	return n, unix.Close(fd) == nil && err == nil
}

func fstat(fd int) (*node, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	return nodeOf(&st), nil
}

// gone reports whether the root's name means another directory by now.
func (r *root) gone() bool {
	if r.direct == nil {
		return false // a pinned directory is to be kept whatever happens to its name
	}
	var st unix.Stat_t
	err := unix.Stat(r.dir, &st)
	return errors.Is(err, unix.ENOENT) || err == nil && (uint64(st.Dev) != r.direct.dev || st.Ino != r.direct.ino) //nolint:unconvert // not everywhere
}

// openDirectly opens p if it still is the regular file that it was found to be.
// If not, or where it cannot be done, it returns nil.
func (p place) openDirectly(flag int) *os.File {
	if p.root.direct == nil || !p.info.Mode().IsRegular() {
		return nil
	}
	fd, err := p.root.direct.open(p.rel, flag|unix.O_LARGEFILE)
	if err != nil {
		return nil
	}
	now, err := fstat(fd)
	if err != nil || !same(now, p.info) || !now.mode.IsRegular() {
		_ = unix.Close(fd)
		return nil
	}
	return os.NewFile(uintptr(fd), p.abs())
}
