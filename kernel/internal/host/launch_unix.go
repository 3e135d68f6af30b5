//go:build unix

package host

import (
	"os/exec"
	"syscall"
)

// killGroup ends the process and everything in its group at once.
func killGroup(cmd *exec.Cmd) {
	// The process may be gone already, and then there is nothing to do about the error.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
