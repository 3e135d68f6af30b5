package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin/runner"
)

const (
	// longestLine bounds the first line of stdout: version, address and a certificate fit many times over.
	longestLine = 64 << 10
	// kept bounds what is remembered of stdout after the handshake.
	kept = 64 << 10
	// outputGrace is how long output is read on after the end of the process, while another holds its pipe.
	outputGrace = time.Second
	// lineGrace is how long the first line may take from its first byte to its end. A provider that forgets the newline
	// would be waited for like one that is slow to start.
	lineGrace = 2 * time.Second
)

// Process is a provider's process without a connection. It is go-plugin's runner.Runner too, so that what is printed
// on stdout is seen: go-plugin keeps the first line for itself and drops the rest.
type Process struct {
	bound     context.Context
	free      func() bool // ends the bond to that context
	cmd       *exec.Cmd
	stderr    io.Writer
	handshake *io.PipeReader
	promise   *io.PipeWriter
	pipes     []*os.File

	mu     sync.Mutex
	first  string
	later  bytes.Buffer
	killed bool
	gone   bool // its pipes are read for the output grace and no longer

	announced chan struct{} // closed when the first line is there, or never will be
	exited    chan struct{} // closed when the process is gone and its output read
}

var _ runner.Runner = (*Process)(nil)

// newProcess makes a process that ends with ctx, until it is set free.
func newProcess(ctx context.Context, cmd *exec.Cmd, stderr io.Writer) *Process {
	if stderr == nil {
		stderr = io.Discard
	}
	p := &Process{bound: ctx, cmd: cmd, stderr: stderr, announced: make(chan struct{}), exited: make(chan struct{})}
	p.handshake, p.promise = io.Pipe()
	return p
}

// Start starts the process in a group of its own, with an empty stdin.
func (p *Process) Start(ctx context.Context) error {
	if err := errors.Join(ctx.Err(), p.bound.Err()); err != nil {
		return err
	}
	stdout, stdoutChild, err := os.Pipe()
	if err != nil {
		return err
	}
	stderr, stderrChild, err := os.Pipe()
	if err != nil {
		return errors.Join(err, stdout.Close(), stdoutChild.Close())
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = nil, stdoutChild, stderrChild
	p.pipes = []*os.File{stdout, stderr}
	err = start(p.cmd)
	_, _ = stdoutChild.Close(), stderrChild.Close()
	if err != nil {
		return errors.Join(err, stdout.Close(), stderr.Close())
	}
	p.free = context.AfterFunc(p.bound, p.cut)
	var readers sync.WaitGroup
	readers.Go(func() { p.read(stdout) })
	readers.Go(func() { _, _ = io.Copy(p.stderr, stderr) })
	go p.wait(&readers)
	return nil
}

func (p *Process) wait(readers *sync.WaitGroup) {
	_ = p.cmd.Wait()
	p.mu.Lock()
	p.gone = true
	p.mu.Unlock()
	for _, pipe := range p.pipes {
		_ = pipe.SetReadDeadline(time.Now().Add(outputGrace))
	}
	readers.Wait()
	for _, pipe := range p.pipes {
		_ = pipe.Close()
	}
	close(p.exited)
}

func (p *Process) read(stdout *os.File) {
	reader := bufio.NewReaderSize(stdout, longestLine)
	_, _ = reader.Peek(1)
	p.readUntil(stdout, time.Now().Add(lineGrace))
	line, err := reader.ReadSlice('\n')
	p.readUntil(stdout, time.Time{})
	p.mu.Lock()
	p.first = string(line)
	p.mu.Unlock()
	close(p.announced)
	if err == nil {
		_, _ = p.promise.Write(line)
	}
	_ = p.promise.Close()
	_, _ = io.Copy(later{p}, reader)
}

// readUntil bounds what is read from a living process.
func (p *Process) readUntil(stdout *os.File, deadline time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		_ = stdout.SetReadDeadline(deadline)
	}
}

// cut kills the process without waiting for it.
func (p *Process) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		p.killed = true
		killGroup(p.cmd.Process)
	}
}

// later keeps what comes after the first line.
type later struct{ p *Process }

func (l later) Write(b []byte) (int, error) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	if room := kept - l.p.later.Len(); room > 0 {
		l.p.later.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

// FirstLine waits for the first line of stdout until the process ends or ctx does; it is empty when there is none, and
// has no newline when it never came to its end.
func (p *Process) FirstLine(ctx context.Context) (string, error) {
	select {
	case <-p.announced:
	case <-ctx.Done():
		return "", fmt.Errorf("nothing on stdout: %w", ctx.Err())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first, nil
}

// Printed is what came on stdout after the first line, of very much the beginning.
func (p *Process) Printed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.later.String()
}

// Exited is closed when the process is gone.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// ExitCode is how the process ended, -1 when a signal ended it. It may be asked once Exited is closed.
func (p *Process) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// Ending is how the process ended, such as "exit status 2". It may be asked once Exited is closed.
func (p *Process) Ending() string { return p.cmd.ProcessState.String() }

// Killed reports whether it took a SIGKILL of ours to end it.
func (p *Process) Killed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// PID is the number of the process, also after its end.
func (p *Process) PID() int {
	if p.cmd.Process == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Kill ends the process and its group at once and waits for the end.
func (p *Process) Kill(context.Context) error {
	select {
	case <-p.exited:
		return nil
	default:
	}
	p.cut()
	<-p.exited
	return nil
}

// Wait returns when the process is gone.
func (p *Process) Wait(context.Context) error {
	<-p.exited
	return nil
}

// Stdout is the first line and nothing else.
func (p *Process) Stdout() io.ReadCloser { return p.handshake }

// Stderr is empty for go-plugin: it is read here.
func (p *Process) Stderr() io.ReadCloser { return io.NopCloser(bytes.NewReader(nil)) }

// Name is the path of the binary.
func (p *Process) Name() string { return p.cmd.Path }

// ID is the process id, empty before the start.
func (p *Process) ID() string {
	if p.cmd.Process == nil {
		return ""
	}
	return strconv.Itoa(p.cmd.Process.Pid)
}

// Diagnose is empty: the caller knows what was printed.
func (p *Process) Diagnose(context.Context) string { return "" }

// PluginToHost returns the address as it is: both run in one file system.
func (p *Process) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin returns the address as it is.
func (p *Process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
