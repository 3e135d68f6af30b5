package undo

import (
	"io/fs"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lone reports whether a file has no second name, and lies on the same file system as dir.
func lone(file fs.FileInfo, dir string) bool {
	f, known := file.Sys().(*syscall.Stat_t)
	var d syscall.Stat_t
	return known && f.Nlink == 1 && syscall.Stat(dir, &d) == nil && f.Dev == d.Dev
}

// oneDisk reports whether two directories are on the same file system.
func oneDisk(a, b string) bool {
	var one, other syscall.Stat_t
	return syscall.Stat(a, &one) == nil && syscall.Stat(b, &other) == nil && one.Dev == other.Dev
}

// settled reports whether nobody can change what is in f any more: no name means it, and nobody has it open for writing. For
// then only the system grants a lease to a reader.
func settled(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	if file, known := info.Sys().(*syscall.Stat_t); !known || file.Nlink > 0 {
		return false
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	var leased error
	err = raw.Control(func(fd uintptr) {
		if _, leased = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK); leased == nil {
			// Nobody is to wait for it.
			_, leased = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
		}
	})
	return err == nil && leased == nil
}

// punch makes a hole of so many bytes in f, if its file system can: they take no room any more.
func punch(f *os.File, at, size int64) {
	raw, err := f.SyscallConn()
	if err != nil || size == 0 {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.Fallocate(int(fd), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, at, size)
	})
}

// descriptors is how many the process may have.
func descriptors() int64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int64(min(limit.Cur, math.MaxInt64))
}
