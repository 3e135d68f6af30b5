//go:build unix

package repo

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// contain puts git and the hooks it starts into a group of their own, which a cancel ends as a whole.
func contain(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// sweep ends what is left of the group after git itself.
func sweep(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}

// hold locks a folder against others that ask for it, until the file is closed or the process ends. It writes nothing. A
// file system without such locks is no obstacle. held is false when somebody else has it.
func hold(folder string) (file *os.File, held bool, err error) {
	if file, err = os.Open(folder); err != nil {
		return nil, false, err
	}
	if errors.Is(syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK) {
		return nil, false, file.Close()
	}
	return file, true, nil
}
