package serve

import (
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/agentco/agent/proto/early"
)

// grace is how long a provider may take to put things right when the kernel has died.
const grace = 5 * time.Second

// slimAfter leaves a provider that is about to start its time, and one that soon ends its keeper.
const slimAfter = 500 * time.Millisecond

// A keeper never gets as far as main. It branches off here, so that any binary that can start a provider can be a keeper, a
// test's included.
func init() {
	if len(os.Args) >= 3 && os.Args[0] == ProcessName {
		run(os.Args[1], os.Args[2:])
	}
}

// run is the life of a keeper. It stays on the main thread, on which init runs locked: the parent-death signal of a child is
// bound to the thread that forked it.
func run(path string, args []string) {
	if err := early.BecomeSubreaper(); err != nil {
		refuse(err)
	}
	keepToYourself()
	endure()
	pid, err := syscall.ForkExec(path, args, &syscall.ProcAttr{
		Env: syscall.Environ(), Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		refuse(err)
	}
	letGo()
	k := &keeper{provider: pid}
	tell(ReplyStarted, pid)
	go k.reap(pid)
	_ = os.WriteFile("/proc/self/comm", []byte("provider-keeper"), 0) // instead of "exe"
	time.AfterFunc(slimAfter, early.Slim)
	k.obey()
}

// refuse says why there is no provider, and ends.
func refuse(err error) {
	errno := syscall.EINVAL
	errors.As(err, &errno)
	tell(ReplyRefused, int(errno))
	exit()
}

func tell(kind byte, value int) {
	// If this fails the kernel is gone, which the next read finds out.
	_, _ = syscall.Write(SocketFD, encode(kind, value))
}

// letGo gives up what belongs to the provider alone: while we hold its output too, nobody can tell that it has closed it.
func letGo() {
	_ = syscall.Close(BinaryFD)
	for fd := 1; fd <= 2; fd++ {
		_ = syscall.Dup3(0, fd, 0)
	}
}

// endure keeps the keeper alive when it is asked to end: only SIGKILL and the end of its work end it. A signal that is handled
// here has its default in what is started afterwards, also where the kernel was told to ignore it, as by nohup.
func endure() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
}

// keeper is the state of the keeper's own process.
type keeper struct {
	// mu is held while a child is reaped and while signals are sent, so that a process id cannot be given to somebody
	// else in between.
	mu       sync.Mutex
	provider int // 0 when it has been reaped
}

// obey does what the kernel says. The keeper ends when it has nothing to keep, see reap.
func (k *keeper) obey() {
	request := []byte{0}
	for {
		n, err := syscall.Read(SocketFD, request)
		switch {
		case err == syscall.EINTR:
		case n == 1 && request[0] == RequestKill:
			k.killAll()
		case n <= 0: // the kernel is gone
			k.terminate()
			time.Sleep(grace)
			k.killAll()
		}
	}
}

// terminate tells the provider that it is alone.
func (k *keeper) terminate() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.provider != 0 {
		_ = syscall.Kill(k.provider, syscall.SIGTERM)
		_ = syscall.Kill(k.provider, syscall.SIGCONT)
	}
}

// reap collects every child, adopted ones too, until there is none. When the provider has ended, what is left is killed.
func (k *keeper) reap(provider int) {
	for early.AwaitExit(early.AnyChild) == nil {
		ended, more := k.collect(provider)
		if ended && more {
			go k.killAll()
		}
	}
	exit()
}

// collect reaps what is dead, all under one lock. It reports whether the provider was among it, and whether there are more
// children.
func (k *keeper) collect(provider int) (ended, more bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return ended, err == nil
		}
		if pid == provider && k.provider != 0 {
			k.provider, ended = 0, true
			tell(ReplyExited, int(ws))
		}
	}
}

// killAll kills until nothing is left, which ends the keeper: it does not return. One round is not enough: what forks while it
// is being looked for is found in the next.
func (k *keeper) killAll() {
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		k.killOnce()
		time.Sleep(wait)
	}
}

// killOnce kills once whatever there is below.
func (k *keeper) killOnce() {
	k.mu.Lock()
	defer k.mu.Unlock()
	early.KillBelow()
}
