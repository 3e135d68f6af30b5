package serve

import (
	"syscall"
	"unsafe"
)

// What package syscall does not have. Package unix does, but would be initialised late.

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
