//go:build unix

package repo

import (
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
