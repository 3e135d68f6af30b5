package sdk

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/agentco/agent/sdk/internal/stdout"
)

// A kernel on Linux has its providers killed with it, which is right for one that does not care. This SDK does:
// it watches the parent itself and needs time to stop calls in an orderly way. The setting belongs to the
// thread that main runs on, which only init is sure to be on.
func init() {
	if !stdout.StartedByKernel() {
		return
	}
	var death int
	if unix.Prctl(unix.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(&death)), 0, 0, 0) == nil && death == int(unix.SIGKILL) {
		_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGTERM), 0, 0, 0)
	}
}

// parentDeath is closed when the process that started this one is gone.
func parentDeath() <-chan struct{} {
	parent := os.Getppid()
	fd, err := unix.PidfdOpen(parent, unix.PIDFD_NONBLOCK)
	if err != nil {
		return pollParent(parent)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		defer func() { _ = unix.Close(fd) }()
		// Between Getppid and PidfdOpen the parent may have gone and its number been taken.
		for os.Getppid() == parent {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
			if n > 0 || err != nil && err != unix.EINTR {
				return
			}
		}
	}()
	return gone
}
