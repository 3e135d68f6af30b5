package keeper

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/agentco/agent/kernel/internal/keeper/serve"
)

// ByDescriptor is the path of the binary that a Spec brings along open.
const ByDescriptor = "/proc/self/fd/4"

// Process is a provider and what it has started.
type Process struct {
	keeper *exec.Cmd
	pid    int

	mu     sync.Mutex
	socket *os.File
	ended  bool // the keeper has been reaped: its id must not be signalled any more
}

// Start starts a provider under a keeper of its own. Exited must be called, and then Wait.
func Start(s Spec) (*Process, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: append([]string{serve.ProcessName, s.Path}, s.Args...), Env: s.Env, Dir: s.Dir,
		Stdout: s.Stdout, Stderr: s.Stderr, ExtraFiles: []*os.File{theirs},
		// A keeper that somebody has stopped learns of the end of the kernel too.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGCONT},
	}
	if s.Binary != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, s.Binary)
	}
	err = nursery.start(cmd)
	_ = theirs.Close()
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	p := &Process{keeper: cmd, socket: ours}
	if err := p.begin(s.Path); err != nil {
		_ = p.socket.SetReadDeadline(time.Now()) // there is no provider to end
		p.Exited()
		p.Wait()
		return nil, err
	}
	return p, nil
}

// socketPair returns two ends of a connection. The first can be read with a deadline, and closing it wakes its reader.
func socketPair() (ours, theirs *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		return nil, nil, errors.Join(os.NewSyscallError("fcntl", err), syscall.Close(fds[0]), syscall.Close(fds[1]))
	}
	return os.NewFile(uintptr(fds[0]), "keeper"), os.NewFile(uintptr(fds[1]), "kernel"), nil
}

// startLimit is how long a keeper may take to start its provider. It takes milliseconds, unless a provider begins with
// stopping its keeper.
const startLimit = 20 * time.Second

// begin reads whether the provider was started.
func (p *Process) begin(path string) error {
	_ = p.socket.SetReadDeadline(time.Now().Add(startLimit))
	kind, value, err := p.receive()
	_ = p.socket.SetReadDeadline(time.Time{})
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		_ = p.keeper.Process.Kill() // what it keeps is ended with it
		return fmt.Errorf("it was not started within %s", startLimit)
	case err != nil:
		return errors.New("the process that was to start it has died: it was killed, or the limit on processes (ulimit -u) or on memory (ulimit -v) is too low for it")
	case kind == serve.ReplyRefused:
		return &os.PathError{Op: "exec", Path: path, Err: syscall.Errno(value)}
	}
	p.pid = value
	return nil
}

func (p *Process) receive() (kind byte, value int, err error) {
	message := make([]byte, serve.ReplySize)
	if _, err := io.ReadFull(p.socket, message); err != nil {
		return 0, 0, err
	}
	kind, value = serve.Decode(message)
	return kind, value, nil
}

// Pid is the process id of the provider.
func (p *Process) Pid() int { return p.pid }

// Kill ends the provider and everything it has started, at once. It does not wait.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	// It fails when the keeper is about to end, and then there is nothing to kill.
	_, _ = p.socket.Write([]byte{serve.RequestKill})
	_ = p.keeper.Process.Signal(syscall.SIGCONT) // somebody may have stopped it
}

// Exited returns when the provider has ended, and says how. It must be called once.
func (p *Process) Exited() Status {
	if kind, value, err := p.receive(); err == nil && kind == serve.ReplyExited {
		return statusOf(syscall.WaitStatus(value))
	}
	return Status{text: "its keeper was killed", killed: true}
}

// Wait returns when nothing is left of the provider, or only what the keeper has not been able to kill for seconds, and goes
// on killing. It must be called once, after Exited.
func (p *Process) Wait() {
	nursery.wait(p.keeper, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended = true
	})
	_ = p.socket.Close()
}

func statusOf(ws syscall.WaitStatus) Status {
	switch {
	case ws.Exited():
		return Status{text: fmt.Sprintf("exit status %d", ws.ExitStatus())}
	case ws.CoreDump():
		return Status{text: fmt.Sprintf("signal: %s (core dumped)", ws.Signal())}
	default:
		return Status{text: fmt.Sprintf("signal: %s", ws.Signal()), killed: ws.Signal() == syscall.SIGKILL}
	}
}
