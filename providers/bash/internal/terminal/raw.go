package terminal

import "golang.org/x/sys/unix"

// makeQuiet leaves a terminal that is typed at as it is for a person: lines, and keys that
// send signals. But it does not repeat what is typed, Ctrl-S stops nothing, and output comes
// out as it went in.
func makeQuiet(fd int) error {
	t, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return err
	}
	t.Iflag &^= unix.IXON | unix.IXOFF
	t.Iflag |= unix.ICRNL | unix.IUTF8
	t.Oflag &^= unix.OPOST
	t.Lflag &^= unix.ECHO | unix.ECHOE | unix.ECHOK | unix.ECHONL
	t.Lflag |= unix.ICANON | unix.ISIG | unix.IEXTEN
	return unix.IoctlSetTermios(fd, setTermios, t)
}

// makeRaw switches off everything a terminal does to the bytes that pass through it.
func makeRaw(fd int) error {
	t, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return err
	}
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP |
		unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	t.Oflag &^= unix.OPOST
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	t.Cflag &^= unix.CSIZE | unix.PARENB
	t.Cflag |= unix.CS8
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(fd, setTermios, t)
}
