package serve

import "syscall"

// What package syscall does not have. Package unix does, but would be initialised after half of the kernel.

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
