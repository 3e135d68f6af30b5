package keeper

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/agentco/agent/proto/early"
)

// nursery knows the keepers of this process, so that children that are none can be told from them: those that a keeper has
// left which was killed.
var nursery = keepers{all: map[int]bool{}}

// sweepLimit bounds how long the end of a provider waits for processes that cannot be killed.
const sweepLimit = 5 * time.Second

type keepers struct {
	mu   sync.Mutex // held from the fork of a keeper until it is in all
	all  map[int]bool
	once sync.Once
	err  error
}

func (k *keepers) start(cmd *exec.Cmd) error {
	k.once.Do(func() { k.err = early.BecomeSubreaper() })
	if k.err != nil {
		return os.NewSyscallError("prctl(PR_SET_CHILD_SUBREAPER)", k.err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	k.all[cmd.Process.Pid] = true
	return nil
}

// wait returns when a keeper has ended and been reaped. One that goes on for too long is left to itself, with
// what it cannot kill, such as what sudo has started.
func (k *keepers) wait(cmd *exec.Cmd, ended func()) {
	reaped := make(chan struct{})
	go func() {
		defer close(reaped)
		k.reap(cmd, ended)
	}()
	limit := time.NewTimer(sweepLimit)
	defer limit.Stop()
	select {
	case <-reaped:
	case <-limit.C:
	}
}

// reap reaps a keeper, and when it did not end by itself, ends what it kept. ended is called before its id can belong to
// another process.
func (k *keepers) reap(cmd *exec.Cmd, ended func()) {
	_ = early.AwaitExit(cmd.Process.Pid)
	ended()
	k.mu.Lock()
	delete(k.all, cmd.Process.Pid)
	orderly := cmd.Wait() == nil
	k.mu.Unlock()
	if !orderly {
		k.sweep()
	}
}

// sweep kills and reaps what was left to us, until nothing is left.
func (k *keepers) sweep() {
	deadline := time.Now().Add(sweepLimit)
	for wait := time.Millisecond; time.Now().Before(deadline); wait = min(2*wait, 100*time.Millisecond) {
		if k.sweepOnce() == 0 {
			return
		}
		time.Sleep(wait)
	}
}

// sweepOnce returns how many orphans it found. Even if all of them are gone now, each has left its own children to us.
func (k *keepers) sweepOnce() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	orphans := k.orphans()
	for _, orphan := range orphans {
		early.Walk(orphan, func(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) })
		_ = syscall.Kill(orphan, syscall.SIGKILL)
		_, _ = syscall.Wait4(orphan, nil, syscall.WNOHANG, nil) // by its id alone: others wait for other children
	}
	return len(orphans)
}

// orphans returns our children that are neither keepers nor started by the kernel for itself. A keeper begins a session,
// and so nothing below it is in ours.
func (k *keepers) orphans() []int {
	ours, err := early.SessionOf(0)
	if err != nil {
		return nil
	}
	var found []int
	for _, pid := range early.ChildrenNow()(os.Getpid()) {
		if session, err := early.SessionOf(pid); !k.all[pid] && err == nil && session != ours {
			found = append(found, pid)
		}
	}
	return found
}
