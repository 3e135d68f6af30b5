// Package sandbox takes rights away from the process that starts commands, and with it
// from every command: they are inherited for ever, and no program can get them back.
//
//	provider ── Policy.Attach ──► exec ──► keeper ── Enter ──► shell ──► commands
//
// It is Landlock's work. Confined commands write nothing outside the directories they were
// given, in whatever way (open, truncate, rename, link, unlink, mkdir, mknod), whatever
// links and /proc offer. Reading stays free, and so do the attributes of files (chmod,
// chown, touch, extended attributes), which Landlock does not know; what was open before
// stays open. A program that gains rights when it is executed (sudo) gains none.
//
// Offline commands get no sockets but Unix and netlink ones, by a seccomp filter; on
// processors that it is not written for, Landlock stops TCP alone. That is not a wall: what
// listens on a Unix socket may talk to the network for them, up to the kernels whose
// Landlock stops that too.
package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// variable says to a child what Enter has to do: see Policy.Attach.
const variable = "PROVIDER_BASH_SANDBOX"

// ErrUnavailable is the reason of a system that cannot enforce a policy.
var ErrUnavailable = errors.New("it needs Linux 6.2 or later with Landlock enabled; without network alone, seccomp")

// Policy is what commands may not do. A nil Policy lets them do everything.
type Policy struct {
	confined bool
	writable []*os.File
	offline  bool
}

// Confine returns a policy under which commands write below the directories alone, and to
// the devices that every shell needs. The directories are known by what they are from now
// on, not by their names. Close releases them.
func Confine(directories ...string) (*Policy, error) {
	p := &Policy{confined: true}
	for _, name := range directories {
		dir, err := openDirectory(name)
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		p.writable = append(p.writable, dir)
	}
	return p, nil
}

// Offline returns the policy, which may be nil, with the network taken away besides.
func (p *Policy) Offline() *Policy {
	if p == nil {
		return &Policy{offline: true}
	}
	p.offline = true
	return p
}

// Close lets go of the directories. No child can be started under the policy any more.
func (p *Policy) Close() error {
	if p == nil {
		return nil
	}
	var errs []error
	for _, dir := range p.writable {
		errs = append(errs, dir.Close())
	}
	p.writable = nil
	return errors.Join(errs...)
}

// Attach makes a child, not yet started, ready to call Enter. It takes the next free
// descriptors of the child.
func (p *Policy) Attach(cmd *exec.Cmd) {
	if p == nil {
		return
	}
	const first = 3 // what ExtraFiles[0] becomes
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%t %t %d %d", variable, p.confined, p.offline, first+len(cmd.ExtraFiles), len(p.writable)))
	cmd.ExtraFiles = append(cmd.ExtraFiles, p.writable...)
}

// orders is a Policy as a child is told it.
type orders struct {
	confined, offline bool
	first, count      int // descriptors of the directories
}

// received reads what Attach wrote. There is nothing to do if it was not called.
func received() (o orders, given bool, err error) {
	text, given := os.LookupEnv(variable)
	if !given {
		return o, false, nil
	}
	if _, err := fmt.Sscanf(text, "%t %t %d %d", &o.confined, &o.offline, &o.first, &o.count); err != nil {
		return o, true, fmt.Errorf("read %s: %w", variable, err)
	}
	return o, true, nil
}
