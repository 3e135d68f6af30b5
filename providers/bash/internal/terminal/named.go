package terminal

import (
	"errors"
	"fmt"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// openByName opens a terminal as every system can.
func openByName() (Stream, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return Stream{}, err
	}
	reader, err := pollable(master)
	if err != nil {
		return Stream{}, errors.Join(err, slave.Close())
	}
	stream := Stream{Reader: reader, Writer: slave}
	if err := blocking(slave); err != nil {
		return Stream{}, errors.Join(err, stream.Close())
	}
	return stream, nil
}

// pollable replaces master, whose descriptor was put into blocking mode when it was
// opened, by a file that the runtime's poller watches.
func pollable(master *os.File) (*os.File, error) {
	defer func() { _ = master.Close() }()
	fd, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("duplicate the terminal: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(fmt.Errorf("make the terminal non-blocking: %w", err), unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), master.Name()), nil
}
