//go:build !unix

package stdout

import "syscall"

// divert has package os make its standard output of standard error.
func divert() (uintptr, error) {
	handle := syscall.Stdout
	syscall.Stdout = syscall.Stderr
	return uintptr(handle), nil
}
