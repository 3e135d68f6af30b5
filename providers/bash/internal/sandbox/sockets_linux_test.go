package sandbox

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// The filter of this architecture is entered by the tests of the sandbox. Here is what it
// says to programs of its predecessor, which may not run on the machine at hand.
func TestSocketFilter(t *testing.T) {
	for name, a := range architectures {
		vm, err := bpf.NewVM(a.socketFilter())
		require.NoError(t, err)
		for _, c := range []struct {
			name             string
			arch, call, from uint32
			want             uint32
		}{
			{"a socket for processes", a.audit, unix.SYS_SOCKET, unix.AF_UNIX, allow},
			{"a socket for the kernel", a.audit, unix.SYS_SOCKET, unix.AF_NETLINK, allow},
			{"a socket for the network", a.audit, unix.SYS_SOCKET, unix.AF_INET, refuse},
			{"a socket for IPv6", a.audit, unix.SYS_SOCKET, unix.AF_INET6, refuse},
			{"a socket to the host", a.audit, unix.SYS_SOCKET, unix.AF_VSOCK, refuse},
			{"no such family", a.audit, unix.SYS_SOCKET, 0xffffffff, refuse},
			{"a ring", a.audit, ioUring, 0, unknown},
			{"another call", a.audit, unix.SYS_READ, unix.AF_INET, allow},
			{"a call with short pointers", a.audit, x32 | unix.SYS_SOCKET, unix.AF_INET, unknown},
			{"an older socket", a.older, a.olderSockets[0], unix.AF_INET, refuse},
			{"another older socket", a.older, a.olderSockets[1], unix.AF_INET, refuse},
			{"an older ring", a.older, ioUring, 0, refuse},
			{"an older call", a.older, 3, unix.AF_INET, allow},
			{"another processor", unix.AUDIT_ARCH_RISCV64, unix.SYS_READ, 0, unknown},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				data := make([]byte, 64) // the machine of the tests reads what is big-endian
				binary.BigEndian.PutUint32(data[callNumber:], c.call)
				binary.BigEndian.PutUint32(data[callArch:], c.arch)
				binary.BigEndian.PutUint32(data[callArgument:], c.from)
				verdict, err := vm.Run(data)
				require.NoError(t, err)
				require.Equal(t, int(c.want), verdict)
			})
		}
	}
}
