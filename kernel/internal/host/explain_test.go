//go:build unix

package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a start had need of, and did not get, is not said of the binary.
func TestExplainLaunch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "provider-x")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755))
	failed := func(op, of string, why error) error { return &fs.PathError{Op: op, Path: of, Err: why} }
	tests := []struct {
		name  string
		cause error
		want  string
	}{
		{"no interpreter", failed("exec", path, syscall.ENOENT), "the interpreter or loader it names does not"},
		{"no interpreter, of its copy", failed("exec", "/proc/self/fd/4", syscall.ENOENT), "the interpreter or loader it names does not"},
		{"not executable here", failed("fork/exec", path, syscall.EACCES), "may not be executed here"},
		{"no header", failed("exec", path, syscall.ENOEXEC), "it has no executable header"},
		{"no /dev", failed("open", "/dev/null", syscall.ENOENT), "cannot start " + path + ": open /dev/null: no such file or directory"},
		{"no /proc", failed("fork/exec", "/proc/self/exe", syscall.ENOENT), "cannot start " + path + ": fork/exec /proc/self/exe: no such file or directory"},
		{"may not fork", fmt.Errorf("seccomp: %w", syscall.EPERM), "cannot start " + path + ": seccomp: operation not permitted"},
		{"no file left", os.NewSyscallError("pipe2", syscall.EMFILE), "pipe2: too many open files; raise the limit on open files (ulimit -n)"},
		{"no file left to look at it", failed("open", path, syscall.EMFILE), "too many open files; raise the limit on open files (ulimit -n)"},
		{"no process left", errors.Join(failed("exec", path, syscall.EAGAIN), nil), "raise the limit on processes (ulimit -u), or end some"},
		{"no memory left", failed("fork/exec", "/proc/self/exe", syscall.ENOMEM), "there is not enough memory, or the limit on it (ulimit -v) is too low"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.ErrorContains(t, explainLaunch(path, tt.cause), tt.want) })
	}
}
