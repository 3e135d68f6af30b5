package main

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A pipe that nobody reads, and nobody closes, keeps nothing alive that is told to end: neither agent nor what it has started.
func TestStuckOutput(t *testing.T) {
	tests := []struct {
		name  string
		flags []string
		sig   os.Signal
	}{
		{"SIGTERM", nil, syscall.SIGTERM},
		{"SIGHUP, for a program", []string{"--json"}, syscall.SIGHUP},
		{"SIGINT, again and again", nil, os.Interrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := agentIn(t, "", append([]string{"invoke", "bash.bash", "--yes", "command=seq 1 200000; sleep 1000"}, tt.flags...)...)
			r, w, err := os.Pipe()
			require.NoError(t, err)
			defer r.Close()
			defer w.Close()
			cmd.Stdout, cmd.Stderr = w, w
			require.NoError(t, cmd.Start())
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			require.Eventually(t, func() bool {
				room := []unix.PollFd{{Fd: int32(w.Fd()), Events: unix.POLLOUT}}
				n, err := unix.Poll(room, 0)
				return err == nil && n == 0
			}, time.Minute, 10*time.Millisecond)
			started := belongings(cmd.Process.Pid)
			require.NotEmpty(t, started)

			ended := make(chan struct{})
			go func() {
				_ = cmd.Wait()
				close(ended)
			}()
			require.NoError(t, cmd.Process.Signal(tt.sig))
			again := time.NewTicker(4 * time.Second)
			defer again.Stop()
			for over := false; !over; {
				select {
				case <-ended:
					over = true
				case <-again.C:
					if tt.sig == os.Interrupt {
						_ = cmd.Process.Signal(tt.sig)
					}
				}
			}
			require.Equal(t, 130, cmd.ProcessState.ExitCode())
			for _, pid := range started {
				require.Eventually(t, func() bool {
					_, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)) // which one that has ended has not
					return err != nil
				}, time.Minute, 10*time.Millisecond)
			}
		})
	}
}
