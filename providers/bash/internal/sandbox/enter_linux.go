package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

const (
	// Before the third version of Landlock a file outside could be truncated, and before
	// the fourth it did not know TCP, for architectures that have no filter for sockets.
	confineVersion = 3
	offlineVersion = 4
)

// Everything that changes what a directory holds or a file says. Reading and executing are
// not among it and stay as they are.
const writing landlock.AccessFSSet = ll.AccessFSWriteFile | ll.AccessFSTruncate |
	ll.AccessFSMakeReg | ll.AccessFSMakeDir | ll.AccessFSMakeSym | ll.AccessFSMakeFifo |
	ll.AccessFSMakeSock | ll.AccessFSMakeChar | ll.AccessFSMakeBlock |
	ll.AccessFSRemoveFile | ll.AccessFSRemoveDir | ll.AccessFSRefer

// Devices that a shell and what it starts write to, none of which keeps anything.
var (
	devices   = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
	terminals = []string{"/dev/tty", "/dev/ptmx", "/dev/pts"}
)

// openDirectory opens a directory just to name it.
func openDirectory(name string) (*os.File, error) {
	return os.OpenFile(name, unix.O_PATH|unix.O_DIRECTORY, 0)
}

// Enter restricts this process, and everything that it starts from now on, as the parent
// has ordered with Policy.Attach. It does nothing if there was no order. There is no way
// back.
func Enter() error {
	o, given, err := received()
	if err != nil || !given {
		return err
	}
	if err := o.supported(); err != nil {
		return err
	}
	var c landlock.Config
	var rules []landlock.Rule
	if o.confined {
		c.HandledAccessFS = writing
		// As far as the kernel knows them: others are not to be signalled, nor talked to
		// through abstract sockets.
		c.Scoped = ll.ScopeSignal | ll.ScopeAbstractUnixSocket
		rules = append(rules, o.rules()...)
	}
	if o.offline {
		c.HandledAccessNet = ll.AccessNetBindTCP | ll.AccessNetConnectTCP | ll.AccessNetBindUDP | ll.AccessNetConnectSendUDP
		c.HandledAccessFS |= ll.AccessFSResolveUnix
	}
	if err := c.BestEffort().Restrict(rules...); err != nil {
		return fmt.Errorf("take rights away from what commands run in: %w", err)
	}
	if o.offline {
		return refuseSockets()
	}
	return nil
}

// rules allow what a confined process may write to.
func (o orders) rules() []landlock.Rule {
	rules := []landlock.Rule{
		landlock.PathAccess(ll.AccessFSWriteFile|ll.AccessFSTruncate, devices...).IgnoreIfMissing(),
		landlock.PathAccess(ll.AccessFSWriteFile|ll.AccessFSTruncate, terminals...).IgnoreIfMissing(),
	}
	for fd := o.first; fd < o.first+o.count; fd++ {
		rules = append(rules, landlock.PathAccess(writing, "/proc/self/fd/"+strconv.Itoa(fd)))
	}
	return rules
}

// supported makes up for BestEffort, which takes anything for the best there is.
func (o orders) supported() error {
	need := confineVersion
	switch {
	case o.offline && !filtersSockets():
		need = offlineVersion
	case !o.confined:
		return nil
	}
	version, err := ll.LandlockGetABIVersion()
	switch {
	case err != nil:
		return fmt.Errorf("%w: this system has no Landlock (%w)", ErrUnavailable, err)
	case version < need:
		return fmt.Errorf("%w: this system has version %d of Landlock, and %d is needed", ErrUnavailable, version, need)
	}
	return nil
}

// Available reports why this system cannot enforce the policy, as far as it can be told
// without trying: see Check.
func (p *Policy) Available() error {
	if p == nil {
		return nil
	}
	return orders{confined: p.confined, offline: p.offline}.supported()
}

// probeName is argv[0] of the child that tries a policy.
const probeName = "provider-bash: sandbox probe"

func init() {
	if len(os.Args) == 1 && os.Args[0] == probeName {
		probe()
	}
}

// probe enters and tries. It says on stdout what is wrong.
func probe() {
	err := Enter()
	o, _, _ := received()
	if err == nil && o.confined {
		err = refusesWriting()
	}
	if err == nil && o.offline {
		err = refusesSockets()
	}
	if err != nil {
		fmt.Print(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// refusesWriting opens for writing what nobody has allowed, and what would not be harmed.
func refusesWriting() error {
	f, err := os.OpenFile("/proc/self/comm", os.O_WRONLY, 0)
	if errors.Is(err, syscall.EACCES) {
		return nil
	}
	if err == nil {
		_ = f.Close()
	}
	return errors.New("this system has Landlock, and it does not keep a process from writing")
}

// refusesSockets makes one that would not be used.
func refusesSockets() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil || !filtersSockets() {
		return nil
	}
	_ = unix.Close(fd)
	return errors.New("this system has a filter for sockets, and it does not keep a process from the network")
}

// Check enters the policy in a child of this process and reports why that is not
// possible.
func (p *Policy) Check() error {
	if p == nil {
		return nil
	}
	var said strings.Builder
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{probeName}, Env: []string{}, Stdout: io.Writer(&said)}
	p.Attach(cmd)
	if err := cmd.Run(); err != nil {
		if said.Len() > 0 {
			return errors.New(said.String())
		}
		return fmt.Errorf("try the sandbox: %w", err)
	}
	return nil
}
