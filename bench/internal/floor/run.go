package floor

import (
	"context"
	"os/exec"
	"syscall"

	"github.com/creack/pty"
)

// RunPTY runs a command of bash under a pty and gives its output as it comes. The end of ctx kills the process group.
func RunPTY(ctx context.Context, command string, out func([]byte) error) error {
	cmd := exec.Command("bash", "-c", command)
	terminal, err := pty.Start(cmd) // in a session of its own: the child leads its group
	if err != nil {
		return err
	}
	defer terminal.Close()
	kill := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	defer context.AfterFunc(ctx, kill)()
	buf := make([]byte, 32<<10)
	for {
		n, err := terminal.Read(buf)
		if n > 0 {
			if e := out(buf[:n]); e != nil {
				kill()
				_ = cmd.Wait()
				return e
			}
		}
		if err != nil {
			return cmd.Wait() // a pty ends with EIO
		}
	}
}
