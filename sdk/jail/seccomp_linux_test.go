package jail

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Where a sandbox refuses the system call of the direct way, in whatever words,
// every name means what it meant before.
func TestWhereASandboxRefusesTheDirectWay(t *testing.T) {
	names := []string{"dir/deep/f", "dir/deep", "dir/deep/", "dir/deep/f/", "dir/none", "inside", "dir/secret/f", "out/s", "dir/pipe"}
	for _, refusal := range []unix.Errno{unix.ENOSYS, unix.EPERM, unix.EINVAL, unix.EAGAIN} {
		t.Run(refusal.Error(), func(t *testing.T) {
			h := newHouse(t, Options{Deny: []string{"secret"}})
			h.put(t, "root/dir/deep/f", "deep\n")
			h.put(t, "root/dir/secret/f", "SECRET")
			h.put(t, "outside/s", "SECRET")
			h.link(t, "dir/deep", "root/inside")
			h.link(t, "../outside", "root/out")
			require.NoError(t, unix.Mkfifo(h.root+"/dir/pipe", 0o600))
			want := map[string][]string{}
			for _, name := range names {
				want[name] = h.tell(t, name)
			}
			refuseOpenat2(t, refusal)
			for _, name := range names {
				require.Equal(t, want[name], h.tell(t, name), name)
			}
			require.NoError(t, h.MkdirAll("new/dir", 0o755))
			f, err := h.Create("new/dir/f")
			require.NoError(t, err)
			require.NoError(t, f.Close())
			removed, err := h.RemoveTree(t.Context(), "new")
			require.NoError(t, err)
			require.Equal(t, 3, removed)
		})
	}
}

// refuseOpenat2 has the system refuse it to the thread of this test, which ends
// with the test.
func refuseOpenat2(t *testing.T, refusal unix.Errno) {
	t.Helper()
	runtime.LockOSThread()
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_OPENAT2},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(refusal)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	require.NoError(t, unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		t.Skipf("nothing can be refused here: %v", err)
	}
	_, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH})
	require.ErrorIs(t, err, refusal)
}
