package keeper

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentco/agent/proto/early"
	"github.com/agentco/agent/providers/bash/internal/keeper/serve"
	"github.com/agentco/agent/providers/bash/internal/sandbox"
)

const (
	// answerPace is how often a keeper that does not answer is woken.
	answerPace = 100 * time.Millisecond
	// wakePace is how often a keeper is that keeps a command: stopped, it would not tell how the
	// command ends.
	wakePace = time.Second
)

// link is the provider's side of one keeper.
type link struct {
	pool *Pool
	kind *sandbox.Policy // what its commands may not do
	cmd  *exec.Cmd
	conn *net.UnixConn

	mu      sync.Mutex
	current *Process
	begun   chan error // result of the start under way
	lost    bool
	ending  bool // what is kept has to die

	abandoned chan struct{} // closed when nobody waits for the end any more
}

// newLink starts a keeper. It does not wait until the keeper is up: requests wait in
// the socket.
func newLink(p *Pool, kind *sandbox.Policy) (*link, error) {
	conn, far, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer func() { _ = far.Close() }()
	// A session of its own keeps it out of reach of a kill of our process group, which
	// it must outlive; no output of ours is held open by it.
	name := serve.ProcessName
	if kind != nil {
		name = confinedName
	}
	cmd := &exec.Cmd{
		Path:       "/proc/self/exe", // this very file, even if an upgrade has replaced it
		Args:       []string{name},
		Env:        []string{},
		ExtraFiles: []*os.File{far},
		// Even if somebody has stopped it, it must see us die.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGCONT},
	}
	kind.Attach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the process that keeps commands: %w", err), conn.Close())
	}
	return &link{pool: p, kind: kind, cmd: cmd, conn: conn, abandoned: make(chan struct{})}, nil
}

func socketPair() (*net.UnixConn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open a socket pair: %w", err)
	}
	near, far := os.NewFile(uintptr(fds[0]), "keeper"), os.NewFile(uintptr(fds[1]), "provider")
	defer func() { _ = near.Close() }() // FileConn duplicates it
	conn, err := net.FileConn(near)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("use the socket pair: %w", err), far.Close())
	}
	return conn.(*net.UnixConn), far, nil
}

func (l *link) pid() int { return l.cmd.Process.Pid }

// start hands spec to the keeper and waits for its answer.
func (l *link) start(spec Spec) (*Process, error) {
	process, begun := newProcess(), make(chan error, 1)
	process.signals = l
	l.mu.Lock()
	if l.lost {
		l.mu.Unlock()
		return nil, ErrLost
	}
	l.current, l.begun, l.ending = process, begun, false
	l.mu.Unlock()
	if err := l.order(spec); err != nil {
		_ = l.conn.Close() // listen ends, and so does begun
	}
	if err := l.answer(begun); err != nil {
		var refused *StartError
		if errors.As(err, &refused) {
			refused.Path = spec.Path
			l.pool.put(l)
		}
		return nil, err
	}
	go l.keepAwake(process)
	return process, nil
}

// keepAwake continues the keeper of a command for as long as there is something of it.
func (l *link) keepAwake(p *Process) {
	tick := time.NewTicker(wakePace)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.wake()
			l.free()
		case <-p.gone:
			return
		case <-l.abandoned:
			return
		}
	}
}

// answer waits for the answer of a keeper that may be stopped at any moment, even by the
// command that it has just started.
func (l *link) answer(begun <-chan error) error {
	for {
		l.wake()
		select {
		case err := <-begun:
			return err
		case <-time.After(answerPace):
		}
	}
}

// order sends a request to start spec, and its files.
func (l *link) order(spec Spec) error {
	body := serve.Order{Path: spec.Path, Args: spec.Args, Env: spec.Env}.Encode()
	files := []int{int(spec.Dir.Fd()), int(spec.Stdin.Fd()), int(spec.Stdout.Fd()), int(spec.Stderr.Fd())}
	if spec.Extra != nil {
		files = append(files, int(spec.Extra.Fd()))
	}
	kind := serve.RequestStart
	if spec.Session {
		kind = serve.RequestSession
	}
	// All at once: a keeper that is woken by the header alone takes the processor that the body needs.
	request := append(serve.Header(kind, len(body)), body...)
	n, _, err := l.conn.WriteMsgUnix(request, unix.UnixRights(files...), nil)
	if err == nil && n < len(request) {
		_, err = l.conn.Write(request[n:])
	}
	return err
}

func (l *link) terminate(p *Process) { l.request(p, serve.RequestTerminate) }
func (l *link) kill(p *Process)      { l.request(p, serve.RequestKill) }

func (l *link) signal(p *Process, s unix.Signal) { l.request(p, serve.RequestSignal, byte(s)) }

// request asks for something about p, unless p is gone: the keeper may keep another
// command by now. If it cannot be sent the keeper is gone, and its command with it.
func (l *link) request(p *Process, kind byte, body ...byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current != p {
		return
	}
	l.ending = l.ending || kind == serve.RequestKill
	_, _ = l.conn.Write(append(serve.Header(kind, len(body)), body...))
	l.wake()
}

// wake continues a keeper that was stopped, by its own command perhaps.
func (l *link) wake() { _ = l.cmd.Process.Signal(unix.SIGCONT) }

// free kills a keeper that should end what it keeps, and which a debugger holds, its own command perhaps: nothing else
// reaches it then. What it kept comes to us.
func (l *link) free() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if state := early.Stat(l.pid()); l.ending && len(state) > 0 && state[0] == "t" {
		_ = l.cmd.Process.Kill()
	}
}

// abandon lets the keeper go on alone, unless nothing is left for it to do.
func (l *link) abandon(p *Process) (left []int) {
	l.mu.Lock()
	over := l.current != p || l.lost
	l.lost = l.lost || !over
	l.mu.Unlock()
	if over {
		return nil
	}
	early.Walk(l.pid(), func(pid int) { left = append(left, pid) })
	close(l.abandoned)
	l.dismiss()
	return left
}

// dismiss makes the keeper kill what it keeps and end.
func (l *link) dismiss() {
	_ = l.conn.Close()
	l.mu.Lock()
	l.ending = true
	l.mu.Unlock()
	l.wake()
}

// listen hands on what the keeper says until the keeper is gone, however it ends.
func (l *link) listen() {
	for {
		r, err := serve.ReadReply(l.conn)
		if err != nil {
			break
		}
		l.handle(r)
	}
	_ = l.conn.Close()
	ended := make(chan error, 1)
	go func() { ended <- l.cmd.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-l.abandoned:
		go func() { l.pool.forget(l, <-ended == nil) }()
		return
	}
	l.mu.Lock()
	process, begun := l.current, l.begun
	l.current, l.begun, l.lost = nil, nil, true
	l.mu.Unlock()
	l.pool.forget(l, err == nil)
	if begun != nil {
		begun <- ErrLost
	} else if process != nil {
		process.setGone(ErrLost)
	}
}

func (l *link) handle(r serve.Reply) {
	l.mu.Lock()
	process, begun := l.current, l.begun
	switch r.Kind {
	case serve.ReplyStarted, serve.ReplyRefused:
		l.begun = nil
	}
	switch r.Kind {
	case serve.ReplyRefused, serve.ReplyGone, serve.ReplyEnded:
		l.current = nil
	}
	l.mu.Unlock()
	switch r.Kind {
	case serve.ReplyStarted:
		process.PID = int(r.Value)
		begun <- nil
	case serve.ReplyRefused:
		begun <- &StartError{Err: syscall.Errno(r.Value)}
	case serve.ReplyExited:
		process.setExited(statusOf(unix.WaitStatus(r.Value)))
	case serve.ReplyEnded:
		l.pool.put(l)
		process.setExited(statusOf(unix.WaitStatus(r.Value)))
		process.setGone(nil)
	case serve.ReplyGone:
		l.pool.put(l)
		process.setGone(nil)
	}
}
