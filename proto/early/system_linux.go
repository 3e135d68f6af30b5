package early

import (
	"syscall"
	"unsafe"
)

// BecomeSubreaper makes orphans below this process its own children.
func BecomeSubreaper() error {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, setChildSubreaper, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// AnyChild is the id of a child in [AwaitExit] when it may be any.
const AnyChild = 0

// AwaitExit returns when a child has ended, and leaves it to be reaped: until then its id cannot belong to anyone else. It
// fails when there is no such child.
func AwaitExit(pid int) error {
	const all, one = 0, 1 // P_ALL, P_PID
	kind := all
	if pid != AnyChild {
		kind = one
	}
	var info [128]byte // siginfo_t
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, uintptr(kind), uintptr(pid), uintptr(unsafe.Pointer(&info)), syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno == 0 {
			return nil
		}
		if errno != syscall.EINTR {
			return errno
		}
	}
}

// SessionOf is the session of a process; 0 stands for this one.
func SessionOf(pid int) (int, error) {
	session, _, errno := syscall.RawSyscall(syscall.SYS_GETSID, uintptr(pid), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(session), nil
}
