package keeper

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentco/agent/providers/bash/internal/sandbox"
)

// processName is argv[0] of a keeper, for the process itself and for whoever looks at ps.
const processName = "provider-bash: keeper"

const (
	// stdoutFD is the output of a command, as the command numbers it.
	stdoutFD = 1
	// socketFD is the keeper's end of the socket pair.
	socketFD = 3
)

// A keeper never gets as far as main. It branches off here so that any binary that can
// open a Pool can be a keeper, a test's included, and none can forget to ask. It is also
// spared the initialisation of the packages that come after this one, gRPC's among them.
func init() {
	if len(os.Args) == 1 && os.Args[0] == processName {
		run()
	}
}

// run is the life of a keeper. It stays on the main thread, on which init runs locked:
// the parent-death signal of a child is bound to the thread that forked it.
func run() {
	_ = os.WriteFile("/proc/self/comm", []byte("bash-keeper"), 0) // instead of "exe"
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		os.Exit(1)
	}
	// Commands under limits that cannot be set must not run at all.
	if err := sandbox.Enter(); err != nil {
		os.Exit(1)
	}
	// Nothing that this process was started with reaches a command.
	_ = unix.CloseRange(socketFD, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
	defaultSignals()
	k := &keeper{empty: make(chan struct{})}
	close(k.empty)
	slim()
	for k.serve() == nil {
	}
	k.killAll()
	os.Exit(0)
}

// defaultSignals gives children the default action for every signal, even if this
// process inherited an "ignore" as under nohup: a caught signal is reset by exec, an
// ignored one is not. It also keeps the keeper alive: only SIGKILL and the end of the
// socket end it. Nor is any signal blocked for them: a child gets the mask of the thread
// that forks, which is this one.
func defaultSignals() {
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil)
	var all []os.Signal
	for s := unix.Signal(1); s <= 64; s++ {
		// The Go runtime sends itself SIGURG all the time.
		if s != unix.SIGKILL && s != unix.SIGSTOP && s != unix.SIGURG {
			all = append(all, s)
		}
	}
	signal.Notify(make(chan os.Signal, 1), all...)
}

// keeper is the state of the keeper's own process.
type keeper struct {
	empty chan struct{} // closed while nothing is kept

	// mu is held while a child is reaped and while signals are sent, so that a process
	// id cannot be given to somebody else in between.
	mu    sync.Mutex
	shell int // 0 when it has been reaped
}

// serve answers one request.
func (k *keeper) serve() error {
	kind, body, files, err := receive()
	if err != nil {
		return err
	}
	switch kind {
	case requestStart, requestSession:
		k.start(body, files, kind == requestSession)
	case requestTerminate:
		k.terminate()
	case requestKill:
		k.killAll()
	case requestSignal:
		k.signal(body)
	}
	return nil
}

// receive blocks until the next request.
func receive() (kind byte, body []byte, files []int, err error) {
	head := make([]byte, headerSize)
	oob := make([]byte, unix.CmsgSpace(5*4))
	n, oobn, err := receiveMessage(head, oob)
	if err != nil {
		return 0, nil, nil, err
	}
	if n < headerSize {
		return 0, nil, nil, io.ErrUnexpectedEOF // 0 when the provider is gone
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		return 0, nil, nil, err
	}
	for i := range messages {
		rights, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return 0, nil, nil, err
		}
		files = append(files, rights...)
	}
	kind, size := parseHeader(head)
	body = make([]byte, size)
	for got := 0; got < size; got += n {
		if n, _, err = receiveMessage(body[got:], nil); err != nil || n == 0 {
			return 0, nil, nil, io.ErrUnexpectedEOF
		}
	}
	return kind, body, files, nil
}

func receiveMessage(b, oob []byte) (n, oobn int, err error) {
	for {
		n, oobn, _, _, err = unix.Recvmsg(socketFD, b, oob, unix.MSG_WAITALL|unix.MSG_CMSG_CLOEXEC)
		if err != unix.EINTR {
			return n, oobn, err
		}
	}
}

func send(kind byte, value int) {
	// If this fails the provider is gone, which the next receive finds out.
	_, _ = unix.Write(socketFD, reply{kind, int64(value)}.encode())
}

// start forks the shell. Unless it is asked for, the shell leads a process group but not a
// session: a session leader that opens its output by name would make the terminal its
// controlling one, and be hung up with everybody in it when it exits.
func (k *keeper) start(body []byte, files []int, session bool) {
	defer closeAll(files)
	o, err := parseOrder(body)
	if err != nil || len(files) < 4 {
		send(replyRefused, int(unix.EINVAL))
		return
	}
	attributes := &syscall.ProcAttr{
		// The directory was checked when it was opened; its path may lead elsewhere by now.
		Dir: "/proc/self/fd/" + strconv.Itoa(files[0]),
		Env: o.env,
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	}
	if session {
		attributes.Sys = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: stdoutFD, Pdeathsig: syscall.SIGKILL}
	}
	for _, fd := range files[1:] {
		attributes.Files = append(attributes.Files, uintptr(fd))
	}
	pid, err := syscall.ForkExec(o.path, o.args, attributes)
	if err != nil {
		var errno syscall.Errno
		errors.As(err, &errno)
		send(replyRefused, int(errno))
		return
	}
	k.shell, k.empty = pid, make(chan struct{})
	send(replyStarted, pid)
	go k.reap(pid, k.empty)
}

func closeAll(files []int) {
	for _, fd := range files {
		_ = unix.Close(fd)
	}
}

// reap collects every child, adopted ones too, until there is none.
func (k *keeper) reap(shell int, empty chan struct{}) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil: // no child, so no descendant either
			send(replyGone, 0)
			close(empty)
			return
		}
		k.collect(shell)
	}
}

// collect reaps what is dead, all under one lock.
func (k *keeper) collect(shell int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		if pid == shell {
			k.shell = 0
			send(replyExited, int(ws))
		}
	}
}

// terminate asks everybody to end, once. All are stopped first: so what is being forked in
// that moment is not missed, and what a handler of SIGTERM starts to clean up is not asked.
func (k *keeper) terminate() {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := stopAll()
	for pid := range all {
		_ = unix.Kill(pid, unix.SIGTERM)
	}
	for pid := range all {
		_ = unix.Kill(pid, unix.SIGCONT)
	}
}

// signal sends the signal that body names to the shell's group.
func (k *keeper) signal(body []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.shell != 0 && len(body) == 1 {
		_ = unix.Kill(-k.shell, unix.Signal(body[0]))
	}
}

// killAll kills until nothing is left. One round is not enough: what forks while it is
// being looked for is found in the next.
func (k *keeper) killAll() {
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		k.killOnce()
		select {
		case <-k.empty:
			return
		case <-time.After(wait):
		}
	}
}

// killOnce kills whole process groups, each in one step that no fork can slip through,
// which is what beats a fork bomb. A group of a descendant holds nothing but descendants:
// a group never spans sessions, and in ours there is only the keeper beside them.
func (k *keeper) killOnce() {
	k.mu.Lock()
	defer k.mu.Unlock()
	own, killed := unix.Getpgrp(), map[int]bool{}
	walk(os.Getpid(), func(pid int) {
		group, err := unix.Getpgid(pid)
		switch {
		case err != nil || killed[group]:
		case group == own:
			_ = unix.Kill(pid, unix.SIGKILL)
		default:
			killed[group] = true
			_ = unix.Kill(-group, unix.SIGKILL)
		}
	})
}
