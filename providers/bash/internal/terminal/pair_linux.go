package terminal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openPair opens a terminal with as few calls of the system as it takes, and by no name but that of
// the multiplexer. The reader is opened as the poller wants it.
func openPair() (Stream, error) {
	reader, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return Stream{}, err
	}
	fd, err := openPeer(reader)
	if err == nil {
		return Stream{Reader: reader, Writer: os.NewFile(uintptr(fd), "terminal")}, nil
	}
	err = errors.Join(err, reader.Close())
	if errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.EINVAL) { // an older system
		return openByName()
	}
	return Stream{}, err
}

// openPeer unlocks and opens the other end of a terminal.
func openPeer(reader *os.File) (peer int, err error) {
	raw, err := reader.SyscallConn()
	if err != nil {
		return 0, err
	}
	refused := raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err != nil {
			return
		}
		for {
			peer, err = ioctlOpen(int(fd), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
			if !errors.Is(err, unix.EINTR) {
				return
			}
		}
	})
	return peer, errors.Join(refused, os.NewSyscallError("ioctl", err))
}

// ioctlOpen is TIOCGPTPEER, which returns a descriptor.
func ioctlOpen(fd, flags int) (int, error) {
	peer, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCGPTPEER, uintptr(flags))
	if errno != 0 {
		return 0, errno
	}
	return int(peer), nil
}
