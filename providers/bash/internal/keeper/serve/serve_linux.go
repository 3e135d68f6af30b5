package serve

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/agentco/agent/proto/early"
)

// ProcessName is argv[0] of a keeper, for the process itself and for whoever looks at ps.
const ProcessName = "provider-bash: keeper"

const (
	// stdoutFD is the output of a command, as the command numbers it.
	stdoutFD = 1
	// socketFD is the keeper's end of the socket pair.
	socketFD = 3
)

// A keeper never gets as far as main. It branches off here so that any binary that can
// open a Pool can be a keeper, a test's included, and none can forget to ask.
func init() {
	if len(os.Args) == 1 && os.Args[0] == ProcessName {
		Run(nil)
	}
}

// Run is the life of a keeper, and does not return. It must be called in an init, on the
// main thread: the parent-death signal of a child is bound to the thread that forked it.
// Limits that enter sets are those of its commands; without them none runs.
func Run(enter func() error) {
	_ = os.WriteFile("/proc/self/comm", []byte("bash-keeper"), 0) // instead of "exe"
	if err := early.BecomeSubreaper(); err != nil {
		os.Exit(1)
	}
	if enter != nil && enter() != nil {
		os.Exit(1)
	}
	keepToYourself()
	defaultSignals()
	k := &keeper{empty: make(chan struct{})}
	close(k.empty)
	early.Slim()
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
	blockNoSignal()
	var all []os.Signal
	for s := syscall.Signal(1); s <= 64; s++ {
		switch s {
		case syscall.SIGKILL, syscall.SIGSTOP:
		case syscall.SIGURG: // the Go runtime sends it to itself all the time
		case syscall.SIGCHLD, syscall.SIGCONT: // come with every command, and by default end nobody
			defaultAction(s)
		default:
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
	case RequestStart, RequestSession:
		k.start(body, files, kind == RequestSession)
	case RequestTerminate:
		k.terminate()
	case RequestKill:
		k.killAll()
	case RequestSignal:
		k.signal(body)
	}
	return nil
}

// receive blocks until the next request.
func receive() (kind byte, body []byte, files []int, err error) {
	head := make([]byte, headerSize)
	oob := make([]byte, syscall.CmsgSpace(5*4))
	n, oobn, err := receiveMessage(head, oob)
	if err != nil {
		return 0, nil, nil, err
	}
	if n < headerSize {
		return 0, nil, nil, io.ErrUnexpectedEOF // 0 when the provider is gone
	}
	messages, err := syscall.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		return 0, nil, nil, err
	}
	for i := range messages {
		rights, err := syscall.ParseUnixRights(&messages[i])
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
		n, oobn, _, _, err = syscall.Recvmsg(socketFD, b, oob, syscall.MSG_WAITALL|syscall.MSG_CMSG_CLOEXEC)
		if err != syscall.EINTR {
			return n, oobn, err
		}
	}
}

func send(kind byte, value int) {
	// If this fails the provider is gone, which the next receive finds out.
	_, _ = syscall.Write(socketFD, Reply{kind, int64(value)}.encode())
}

// start forks the shell. Unless it is asked for, the shell leads a process group but not a
// session: a session leader that opens its output by name would make the terminal its
// controlling one, and be hung up with everybody in it when it exits.
func (k *keeper) start(body []byte, files []int, session bool) {
	defer closeAll(files)
	o, err := parseOrder(body)
	if err != nil || len(files) < 4 {
		send(ReplyRefused, int(syscall.EINVAL))
		return
	}
	attributes := &syscall.ProcAttr{
		// The directory was checked when it was opened; its path may lead elsewhere by now.
		Dir: "/proc/self/fd/" + strconv.Itoa(files[0]),
		Env: o.Env,
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	}
	if session {
		attributes.Sys = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: stdoutFD, Pdeathsig: syscall.SIGKILL}
	}
	for _, fd := range files[1:] {
		attributes.Files = append(attributes.Files, uintptr(fd))
	}
	pid, err := syscall.ForkExec(o.Path, o.Args, attributes)
	if err != nil {
		var errno syscall.Errno
		errors.As(err, &errno)
		send(ReplyRefused, int(errno))
		return
	}
	k.shell, k.empty = pid, make(chan struct{})
	send(ReplyStarted, pid)
	go k.reap(pid, k.empty)
}

func closeAll(files []int) {
	for _, fd := range files {
		_ = syscall.Close(fd)
	}
}

// reap collects every child, adopted ones too, until there is none.
func (k *keeper) reap(shell int, empty chan struct{}) {
	defer close(empty)
	for early.AwaitExit(early.AnyChild) == nil {
		exited, ws, left := k.collect(shell)
		switch {
		case exited && !left: // told at once, nobody thinks of ending what is gone already
			send(ReplyEnded, int(ws))
			return
		case exited:
			send(ReplyExited, int(ws))
		}
	}
	send(ReplyGone, 0) // no child, so no descendant either
}

// collect reaps what is dead, all under one lock. It reports whether the shell was among it, how
// that ended, and whether there is any child left.
func (k *keeper) collect(shell int) (exited bool, status syscall.WaitStatus, left bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return exited, status, err != syscall.ECHILD
		}
		if pid == shell {
			k.shell = 0
			exited, status = true, ws
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
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
	for pid := range all {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
}

// signal sends the signal that body names to the shell's group.
func (k *keeper) signal(body []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.shell != 0 && len(body) == 1 {
		_ = syscall.Kill(-k.shell, syscall.Signal(body[0]))
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

// killOnce kills once whatever there is below.
func (k *keeper) killOnce() {
	k.mu.Lock()
	defer k.mu.Unlock()
	early.KillBelow()
}
