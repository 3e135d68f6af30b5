//go:build unix

package stdout

import "syscall"

// divert makes standard output a second standard error, also for what the process starts and for code that is not Go.
func divert() (uintptr, error) {
	fd, err := syscall.Dup(syscall.Stdout)
	if err != nil {
		return 0, err
	}
	syscall.CloseOnExec(fd)
	return uintptr(fd), replaceStdout()
}
