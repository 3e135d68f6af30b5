package serve

import (
	"syscall"
	"unsafe"
)

// What package syscall does not have. Package unix does, but would be initialised late.

// becomeSubreaper makes orphans below this process its own children.
func becomeSubreaper() error {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, setChildSubreaper, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// keepToYourself lets nothing that this process was started with reach a command.
func keepToYourself() {
	const closeRange, onExec = 436, 4 // SYS_CLOSE_RANGE, CLOSE_RANGE_CLOEXEC
	_, _, _ = syscall.RawSyscall(closeRange, socketFD, ^uintptr(0), onExec)
}

// blockNoSignal empties the mask of this thread.
func blockNoSignal() {
	const setMask = 2 // SIG_SETMASK
	var none [1]uint64
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, setMask, uintptr(unsafe.Pointer(&none)), 0, unsafe.Sizeof(none), 0, 0)
}

// defaultAction lets a signal do what it does by default, whatever was inherited. The runtime would run a handler for it.
func defaultAction(s syscall.Signal) {
	var none [4]uint64 // struct sigaction: SIG_DFL is 0
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&none)), 0, unsafe.Sizeof(none[0]), 0, 0)
}

// awaitExit returns when a child has ended, and leaves it to be reaped: until then its id
// cannot belong to anyone else. It fails when there is no child.
func awaitExit() error {
	const any = 0      // P_ALL
	var info [128]byte // siginfo_t
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, any, 0, uintptr(unsafe.Pointer(&info)), syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno == 0 {
			return nil
		}
		if errno != syscall.EINTR {
			return errno
		}
	}
}
