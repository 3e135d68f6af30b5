package host

import (
	"os/exec"
	"syscall"
)

// startBound starts cmd in a group of its own, so that a Ctrl-C of the console reaches the kernel alone.
func startBound(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
	return cmd.Start()
}

// awaitExit returns when the process has ended.
func awaitExit(cmd *exec.Cmd) { _ = cmd.Wait() }

// reap has nothing left to do: here waiting and reaping cannot be told apart.
func reap(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) {
	// The process may be gone already, and then there is nothing to do about the error.
	_ = cmd.Process.Kill()
}
