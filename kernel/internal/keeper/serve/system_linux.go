package serve

import (
	"syscall"
	"unsafe"
)

// What package syscall does not have. Package unix does, but would be initialised after half of the kernel.

const prSetChildSubreaper = 36

// BecomeSubreaper makes orphans below this process its own children.
func BecomeSubreaper() error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// exit ends the process without a word: what a Go program does at its end, waiting for a second under the race detector,
// a keeper has nothing of.
func exit() {
	for {
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
	}
}

// keepToYourself lets no descriptor through to what is started, but the three that it is given: whoever started the kernel
// may have left it some.
func keepToYourself() {
	const closeRange, onExec = 436, 4 // SYS_CLOSE_RANGE, CLOSE_RANGE_CLOEXEC
	if _, _, errno := syscall.RawSyscall(closeRange, SocketFD, ^uintptr(0), onExec); errno == 0 {
		return
	}
	// A system before Linux 5.11: what is ours, at least.
	syscall.CloseOnExec(SocketFD)
	syscall.CloseOnExec(BinaryFD)
}

// anyChild is the id of a child in AwaitExit when it may be any.
const anyChild = 0

// AwaitExit returns when a child has ended, and leaves it to be reaped: until then its id cannot belong to anyone else. It
// fails when there is no such child.
func AwaitExit(pid int) error {
	const all, one = 0, 1 // P_ALL, P_PID
	kind := all
	if pid != anyChild {
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
