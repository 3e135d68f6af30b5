//go:build unix && !linux

package host

import (
	"os/exec"
	"syscall"
)

// startBound starts cmd in a process group of its own. Here the system does not bind it to the life of the kernel: a
// provider has to watch its parent.
func startBound(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd.Start()
}

// awaitExit returns when the process has ended.
func awaitExit(cmd *exec.Cmd) { _ = cmd.Wait() }

// reap has nothing left to do: here waiting and reaping cannot be told apart.
func reap(*exec.Cmd) {}
