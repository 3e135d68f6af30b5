package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// architecture is what a system call looks like on a processor, and to the programs of its
// predecessor that it runs too.
type architecture struct {
	audit, older uint32   // AUDIT_ARCH_*
	olderSockets []uint32 // numbers of the calls that make sockets there
}

// architectures that have a filter. On others Landlock alone takes TCP away.
var architectures = map[string]architecture{
	"amd64": {audit: unix.AUDIT_ARCH_X86_64, older: unix.AUDIT_ARCH_I386, olderSockets: []uint32{102, 359}},
	"arm64": {audit: unix.AUDIT_ARCH_AARCH64, older: unix.AUDIT_ARCH_ARM, olderSockets: []uint32{102, 281}},
}

// filtersSockets reports whether sockets can be refused here whatever Landlock knows.
func filtersSockets() bool { _, ok := architectures[runtime.GOARCH]; return ok }

const (
	// Where seccomp has what it asks about.
	callNumber   = 0
	callArch     = 4
	callArgument = 16

	x32     = 0x40000000 // a flag in numbers of calls: pointers of 32 bits
	allow   = unix.SECCOMP_RET_ALLOW
	refuse  = unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
	unknown = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	ioUring = unix.SYS_IO_URING_SETUP // it makes sockets past every filter
)

// socketFilter refuses sockets but those of this machine: to other processes and to the
// kernel.
func (a architecture) socketFilter() []bpf.Instruction {
	older := []bpf.Instruction{load(callNumber)}
	for _, call := range append(a.olderSockets, ioUring) {
		older = append(older, when(bpf.JumpEqual, call, refuse)...)
	}
	program := []bpf.Instruction{load(callArch), bpf.JumpIf{Cond: bpf.JumpEqual, Val: a.audit, SkipTrue: uint8(len(older) + 3)}}
	program = append(program, when(bpf.JumpNotEqual, a.older, unknown)...)
	program = append(append(program, older...), answer(allow), load(callNumber))
	program = append(program, when(bpf.JumpGreaterOrEqual, x32, unknown)...)
	program = append(program, when(bpf.JumpEqual, ioUring, unknown)...)
	program = append(program, when(bpf.JumpNotEqual, unix.SYS_SOCKET, allow)...)
	program = append(program, load(callArgument))
	program = append(program, when(bpf.JumpEqual, unix.AF_UNIX, allow)...)
	program = append(program, when(bpf.JumpEqual, unix.AF_NETLINK, allow)...)
	return append(program, answer(refuse))
}

func load(offset uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offset, Size: 4} }

func answer(value uint32) bpf.Instruction { return bpf.RetConstant{Val: value} }

func when(condition bpf.JumpTest, value, then uint32) []bpf.Instruction {
	return []bpf.Instruction{bpf.JumpIf{Cond: condition, Val: value, SkipFalse: 1}, answer(then)}
}

// refuseSockets puts the filter before every thread of this process, and before whatever
// it starts. It needs no privilege.
func refuseSockets() error {
	a, ok := architectures[runtime.GOARCH]
	if !ok {
		return nil
	}
	raw, err := bpf.Assemble(a.socketFilter())
	if err != nil {
		return fmt.Errorf("assemble the filter for sockets: %w", err)
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	switch {
	case errno != 0:
		return fmt.Errorf("%w: this system takes no filter for sockets (%w)", ErrUnavailable, errno)
	case thread != 0:
		return errors.New("a thread of this process has other filters for system calls")
	}
	return nil
}
