//go:build linux

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"unsafe"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// childVariable makes this binary a child that enters its sandbox, tries things in the
// directory that it names, and says how each attempt ended.
const childVariable = "SANDBOX_TEST_DIRECTORY"

// harmless are the attempts of a child that may write anywhere: the others are only made
// where they are refused.
var harmless = []string{"create inside", "create outside", "read outside", "run a program", "connect over TCP", "listen over TCP", "send over UDP", "connect to a socket", "Multipath TCP", "raw packets", "io_uring", "netlink"}

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		if err := Enter(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		o, _, _ := received()
		said := map[string]string{}
		for name, try := range attempts(dir) {
			if o.confined || slices.Contains(harmless, name) {
				said[name] = outcome(try())
			}
		}
		_ = json.NewEncoder(os.Stdout).Encode(said)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// outcome is "done" or the name of an error.
func outcome(err error) string {
	var errno syscall.Errno
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &errno):
		return unix.ErrnoName(errno)
	default:
		return err.Error()
	}
}

// attempts work in dir/in, which may be written to, and dir/out, which may not.
func attempts(dir string) map[string]func() error {
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	write := func(path string, flags int) func() error {
		return func() error {
			f, err := os.OpenFile(path, flags|os.O_WRONLY, 0o600)
			if err == nil {
				_, err = f.WriteString("x")
				err = errors.Join(err, f.Close())
			}
			return err
		}
	}
	dial := func(network, port string) func() error {
		return func() error {
			c, err := net.Dial(network, os.Getenv(port))
			if err == nil {
				_, err = c.Write([]byte("x"))
				err = errors.Join(err, c.Close())
			}
			return err
		}
	}
	return map[string]func() error{
		"create inside":   write(in+"/new", os.O_CREATE),
		"rename inside":   func() error { return os.Rename(in+"/a", in+"/sub/a") },
		"link inside":     func() error { return os.Link(in+"/b", in+"/sub/b") },
		"remove inside":   func() error { return os.Remove(in + "/c") },
		"truncate inside": func() error { return os.Truncate(in+"/b", 0) },
		"socket inside":   func() error { l, err := net.Listen("unix", in+"/s"); return errors.Join(err, closed(l)) },
		"/dev/null":       write("/dev/null", 0),
		"/dev/full":       write("/dev/full", 0),
		"/dev/ptmx":       write("/dev/ptmx", 0),
		"read outside":    func() error { _, err := os.ReadFile(out + "/file"); return err },
		"run a program":   func() error { return exec.Command("/bin/true").Run() },
		"create outside":  write(out+"/new", os.O_CREATE),
		"write outside":   write(out+"/file", 0),
		"append outside":  write(out+"/file", os.O_APPEND),
		"open to truncate": func() error {
			f, err := os.OpenFile(out+"/file", os.O_RDONLY|os.O_TRUNC, 0)
			return errors.Join(err, closed(f))
		},
		"truncate outside":        func() error { return os.Truncate(out+"/file", 0) },
		"rename out":              func() error { return os.Rename(in+"/b", out+"/b") },
		"rename in":               func() error { return os.Rename(out+"/file", in+"/file") },
		"rename over":             func() error { return os.Rename(in+"/b", out+"/file") },
		"link out":                func() error { return os.Link(in+"/b", out+"/b") },
		"link in":                 func() error { return os.Link(out+"/file", in+"/file") },
		"remove outside":          func() error { return os.Remove(out + "/file") },
		"remove a directory":      func() error { return os.Remove(out + "/dir") },
		"make a directory":        func() error { return os.Mkdir(out+"/newdir", 0o700) },
		"make a link":             func() error { return os.Symlink("x", out+"/newlink") },
		"make a pipe":             func() error { return unix.Mkfifo(out+"/newpipe", 0o600) },
		"make a socket":           func() error { l, err := net.Listen("unix", out+"/s"); return errors.Join(err, closed(l)) },
		"through a link":          write(in+"/link/file", 0),
		"through a new link":      func() error { _ = os.Symlink(out+"/file", in+"/l2"); return write(in+"/l2", 0)() },
		"through ..":              write(in+"/../out/file", 0),
		"through /proc/self/root": write("/proc/self/root"+out+"/file", 0),
		"through /proc/self/cwd":  func() error { _ = os.Chdir(out); return write("/proc/self/cwd/file", 0)() },
		"through a descriptor": func() error {
			f, err := os.Open(out + "/file")
			if err != nil {
				return err
			}
			defer func() { _ = f.Close() }()
			return write("/proc/self/fd/"+strconv.Itoa(int(f.Fd())), 0)()
		},
		"own memory": func() error {
			f, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
			return errors.Join(err, closed(f))
		},
		"memory of the parent": func() error {
			f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", os.Getppid()), os.O_RDWR, 0)
			return errors.Join(err, closed(f))
		},
		"its environment": func() error { _, err := os.ReadFile("/proc/" + strconv.Itoa(os.Getppid()) + "/environ"); return err },
		"settings of the kernel": func() error {
			f, err := os.OpenFile("/proc/sys/kernel/hostname", os.O_WRONLY, 0)
			return errors.Join(err, closed(f))
		},
		"mount":                    func() error { return unix.Mount(in, out, "", unix.MS_BIND, "") },
		"signal the parent":        func() error { return unix.Kill(os.Getppid(), 0) },
		"a descriptor from before": func() error { _, err := os.NewFile(3, "before").WriteString("x"); return err },
		"chmod outside":            func() error { return os.Chmod(out+"/file", 0o640) },
		"touch outside":            func() error { return unix.Utimes(out+"/file", nil) },
		"Multipath TCP":            func() error { return socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP) },
		"raw packets":              func() error { return socket(unix.AF_PACKET, unix.SOCK_RAW, 0) },
		"netlink":                  func() error { return socket(unix.AF_NETLINK, unix.SOCK_RAW, 0) },
		"io_uring":                 ring,
		"connect over TCP":         dial("tcp", "TEST_TCP"),
		"listen over TCP":          func() error { l, err := listenTCP(); return errors.Join(err, closed(l)) },
		"send over UDP":            dial("udp", "TEST_UDP"),
		"connect to a socket":      dial("unix", "TEST_UNIX"),
	}
}

func socket(domain, kind, protocol int) error {
	fd, err := unix.Socket(domain, kind, protocol)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

// ring asks for a queue of system calls, which no filter sees.
func ring() error {
	var parameters [120]byte
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&parameters)), 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

// listenTCP listens on plain TCP: net.Listen takes Multipath TCP where there is one, which
// Landlock does not know.
func listenTCP() (net.Listener, error) {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	return c.Listen(context.Background(), "tcp", "127.0.0.1:0")
}

func closed[T interface {
	comparable
	Close() error
}](c T) error {
	var none T
	if c == none {
		return nil
	}
	return c.Close()
}

// try runs every attempt in a child under the policy that make makes of dir/in.
func try(t *testing.T, make func(in string) *Policy) (said map[string]string, dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, d := range []string{"in/sub", "out/dir"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, d), 0o700))
	}
	for _, f := range []string{"in/a", "in/b", "in/c", "out/file", "out/before"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, f), []byte("text"), 0o600))
	}
	require.NoError(t, os.Symlink("../out", dir+"/in/link"))
	before, err := os.OpenFile(dir+"/out/before", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer func() { _ = before.Close() }()
	policy := make(dir + "/in")
	if err := policy.Available(); err != nil {
		t.Skip(err)
	}
	require.NoError(t, policy.Check())
	tcp, udp, local := serve(t)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.ExtraFiles = []*os.File{before}
	cmd.Env = []string{childVariable + "=" + dir, "TEST_TCP=" + tcp, "TEST_UDP=" + udp, "TEST_UNIX=" + local}
	policy.Attach(cmd)
	text, err := cmd.Output()
	require.NoError(t, policy.Close())
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &said))
	return said, dir
}

// serve listens for whoever gets through, and says where.
func serve(t *testing.T) (tcp, udp, local string) {
	t.Helper()
	stream, err := listenTCP()
	require.NoError(t, err)
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	socket, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	t.Cleanup(func() { _, _, _ = stream.Close(), packets.Close(), socket.Close() })
	return stream.Addr().String(), packets.LocalAddr().String(), socket.Addr().String()
}

const refused = "refused"

// differs lists what did not end as it should. Landlock says EACCES, or EXDEV where a file
// would move between directories of different rights.
func differs(said map[string]string, want func(name string) string) map[string]string {
	wrong := map[string]string{}
	for name, got := range said {
		expected := want(name)
		if expected == refused && (got == "EACCES" || got == "EXDEV" || got == "EPERM") || got == expected {
			continue
		}
		wrong[name] = got + ", not " + expected
	}
	return wrong
}

// What confined commands can do, and what the sandbox is documented not to stop. The rest
// is refused.
var (
	free = map[string]string{
		"create inside": "done", "rename inside": "done", "link inside": "done", "remove inside": "done", "truncate inside": "done",
		"socket inside": "done", "/dev/null": "done", "/dev/full": "ENOSPC", "/dev/ptmx": "done", "read outside": "done", "run a program": "done",
	}
	unstopped  = map[string]string{"a descriptor from before": "done", "chmod outside": "done", "touch outside": "done"}
	networking = map[string]string{
		"connect over TCP": "done", "listen over TCP": "done", "send over UDP": "done", "connect to a socket": "done",
	}
)

func TestConfined(t *testing.T) {
	said, dir := try(t, func(in string) *Policy {
		p, err := Confine(in)
		require.NoError(t, err)
		return p
	})
	version, _ := ll.LandlockGetABIVersion()
	require.Empty(t, differs(said, func(name string) string {
		for _, allowed := range []map[string]string{free, unstopped, networking} {
			if want, ok := allowed[name]; ok {
				return want
			}
		}
		switch {
		case name == "signal the parent" && version < 6, name == "netlink":
			return "done"
		case name == "Multipath TCP" || name == "raw packets" || name == "io_uring":
			return said[name] // as far as the system has it
		case name == "its environment" && os.Geteuid() == 0:
			return said[name] // a capability of root is stronger, in some kernels
		default:
			return refused
		}
	}))
	for name, text := range map[string]string{"out/file": "text", "out/before": "xext"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, text, string(got))
	}
	entries, err := os.ReadDir(dir + "/out")
	require.NoError(t, err)
	require.Len(t, entries, 3)
}

func TestOffline(t *testing.T) {
	said, _ := try(t, func(string) *Policy { return (*Policy)(nil).Offline() })
	version, _ := ll.LandlockGetABIVersion()
	require.Empty(t, differs(said, func(name string) string {
		switch {
		case name == "connect over TCP" || name == "listen over TCP",
			name == "send over UDP" && (filtersSockets() || version >= 10), name == "connect to a socket" && version >= 9,
			filtersSockets() && (name == "Multipath TCP" || name == "raw packets"):
			return refused
		case filtersSockets() && name == "io_uring":
			return "ENOSYS"
		default:
			return said[name] // the file system is as it was
		}
	}))
	require.Equal(t, "done", said["create outside"])
}

func TestConfinedAndOffline(t *testing.T) {
	said, _ := try(t, func(in string) *Policy {
		p, err := Confine(in)
		require.NoError(t, err)
		return p.Offline()
	})
	for name, want := range map[string]string{"create inside": "done", "create outside": "EACCES", "connect over TCP": "EACCES"} {
		require.Equal(t, want, said[name], name)
	}
}

func TestNothingToEnter(t *testing.T) {
	var none *Policy
	cmd := &exec.Cmd{}
	none.Attach(cmd)
	require.Empty(t, cmd.Env)
	require.NoError(t, none.Check())
	require.NoError(t, none.Available())
	require.NoError(t, none.Close())
	require.NoError(t, Enter(), "there was no order")
}

func TestBadOrder(t *testing.T) {
	for _, order := range []string{"", "true", "x y z 1", "true true 3"} {
		t.Setenv(variable, order)
		require.Error(t, Enter(), order)
	}
}

func TestMissingDirectory(t *testing.T) {
	_, err := Confine(t.TempDir(), "/nothing/here")
	require.ErrorIs(t, err, os.ErrNotExist)
}
