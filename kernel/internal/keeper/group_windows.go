package keeper

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup keeps the Ctrl-C of a console from the provider: it reaches the kernel alone.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func killGroup(cmd *exec.Cmd) {
	// The process may be gone already, and then there is nothing to do about the error.
	_ = cmd.Process.Kill()
}

// statusOf cannot tell a process that was killed from one that exits with 1.
func statusOf(s *os.ProcessState) Status {
	return Status{text: s.String(), killed: s.ExitCode() == 1}
}
