//go:build unix && !linux

package stdout

import "syscall"

func replaceStdout() error { return syscall.Dup2(syscall.Stderr, syscall.Stdout) }
