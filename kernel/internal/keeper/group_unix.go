//go:build unix && !linux

package keeper

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup keeps the Ctrl-C of a terminal from the provider: it reaches the kernel alone.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends the process and everything in its group at once.
func killGroup(cmd *exec.Cmd) {
	// The group may be gone already, and then there is nothing to do about the error.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}

func statusOf(s *os.ProcessState) Status {
	ws, ok := s.Sys().(syscall.WaitStatus)
	return Status{text: s.String(), killed: ok && ws.Signaled() && ws.Signal() == syscall.SIGKILL}
}
