package jail

import (
	"os"

	"golang.org/x/sys/unix"
)

// emptiable returns an error if entries of the open directory may not be removed.
func emptiable(dir *os.File) error {
	raw, err := dir.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.Faccessat(int(fd), ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS)
	})
	return firstError(err, failed)
}
