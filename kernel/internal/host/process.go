package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentco/agent/kernel/internal/keeper"
	"github.com/hashicorp/go-plugin/runner"
)

const (
	// longestHandshake bounds the first line of stdout: version, address and a certificate fit many times over.
	longestHandshake = 64 << 10
	// outputGrace is how long the output of a dead process is read on while another process still holds its pipe.
	outputGrace = 100 * time.Millisecond
	// lineGrace is how long the first line may take from its first byte to its end. Whoever writes a line writes it at
	// once, but a provider may forget the newline, and would be waited for as long as one that is slow to start.
	lineGrace = 3 * time.Second
)

// process is the child. It is go-plugin's runner.Runner, but go-plugin sees no more of its output than the handshake
// line: its scanner ends at a line of 64 KiB, and the child then blocks on a full pipe.
type process struct {
	path     string // what the provider is known by
	checksum string // of its binary; empty when any will do
	changed  func() // is told when it has another; nil tells nobody
	scratch  string // a folder of this process alone
	dir      string
	env      []string
	log      *slog.Logger

	child     *keeper.Process
	started   time.Time
	handshake *io.PipeReader
	promise   *io.PipeWriter
	errors    tail
	readers   sync.WaitGroup
	writers   []*lines // what cuts the output into lines

	mu     sync.Mutex
	first  string    // the first line of stdout
	broken bool      // that line has no end
	mute   bool      // stdout ended, by no doing of ours, without a whole line
	until  time.Time // when the grace of a shutdown ends
	gone   bool      // the process has ended, and all that it had started
	status keeper.Status
	doomed bool // it is to be killed, started or not

	ended  chan struct{} // closed when the process has ended, and it is known how
	exited chan struct{} // closed when nothing is left of it, and its output read
}

var _ runner.Runner = (*process)(nil)

func newProcess(spec Spec, scratch string) *process {
	p := &process{
		path: spec.Path, checksum: spec.Checksum, changed: spec.Changed, scratch: scratch,
		dir: spec.Dir, env: environment(spec.Env), log: spec.Log, ended: make(chan struct{}), exited: make(chan struct{}),
	}
	p.handshake, p.promise = io.Pipe()
	return p
}

// Start starts the child with an empty stdin: the kernel's own may carry a protocol.
func (p *process) Start(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	what := keeper.Spec{Path: p.path, Args: []string{p.path}, Env: p.env, Dir: p.dir}
	if p.checksum != "" {
		binary, err := verify(p.path, p.checksum, p.scratch)
		if err != nil {
			p.disbelieve(err)
			return err
		}
		defer binary.close()
		what.Path, what.Binary = binary.path, binary.file
	}
	stdout, err := openChannel()
	if err != nil {
		return err
	}
	stderr, err := openChannel()
	if err != nil {
		return errors.Join(err, stdout.closeChild(), stdout.close())
	}
	what.Stdout, what.Stderr = stdout.childs, stderr.childs
	child, err := keeper.Start(what)
	// The child's ends are given away: while we hold them too, reading never ends.
	if err = errors.Join(err, stdout.closeChild(), stderr.closeChild()); err != nil {
		return errors.Join(err, stdout.close(), stderr.close())
	}
	p.mu.Lock()
	p.child, p.started = child, time.Now()
	if p.doomed {
		child.Kill()
	}
	p.mu.Unlock()
	p.readers.Go(func() { p.readStdout(stdout.ours) })
	p.readers.Go(func() { _, _ = io.Copy(p.lines("stderr", true), stderr.ours) })
	go p.wait(stdout, stderr)
	return nil
}

// disbelieve tells of a binary that is another than it was.
func (p *process) disbelieve(err error) {
	if _, changed := errors.AsType[*ChecksumError](err); changed && p.changed != nil {
		p.changed()
	}
}

// wait ends when the child is gone and everything it wrote has been read.
func (p *process) wait(outputs ...channel) {
	status := p.child.Exited()
	p.mu.Lock()
	p.status = status
	p.mu.Unlock()
	close(p.ended)
	p.child.Wait()
	p.mu.Lock()
	p.gone = true
	p.mu.Unlock()
	// Where not everything that it started is ended with it, the pipes may be held open for as long as that lives.
	for _, output := range outputs {
		_ = output.ours.SetReadDeadline(time.Now().Add(outputGrace))
	}
	p.readers.Wait()
	for _, output := range outputs {
		_ = output.ours.Close()
	}
	p.flush()
	close(p.exited)
}

func (p *process) readStdout(stdout *os.File) {
	reader := bufio.NewReaderSize(stdout, longestHandshake)
	_, _ = reader.Peek(1)
	p.readUntil(stdout, time.Now().Add(lineGrace))
	line, err := reader.ReadSlice('\n')
	p.readUntil(stdout, time.Time{})
	p.mu.Lock()
	p.first = strings.TrimSpace(string(line))
	p.broken = err != nil && len(line) > 0
	p.mute = err != nil && !p.doomed
	p.mu.Unlock()
	if err == nil {
		// go-plugin reads one line and then only what it throws away.
		_, _ = p.promise.Write(line)
	}
	// Whatever else comes, or whoever keeps the pipe open: there will be no other handshake.
	_ = p.promise.Close()
	_, _ = io.Copy(p.lines("stdout", false), reader)
}

// readUntil bounds what is read from a living child; that of a dead one has its own bound.
func (p *process) readUntil(stdout *os.File, deadline time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		_ = stdout.SetReadDeadline(deadline)
	}
}

// lines logs what the child writes, and keeps the last of it for the text of an error when keep is set.
func (p *process) lines(stream string, keep bool) *lines {
	l := &lines{emit: func(line string) {
		message, routine := fromHclog(line)
		if keep && !routine && message != "" {
			p.errors.add(message)
		}
		p.log.Debug(message, "stream", stream)
	}}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writers = append(p.writers, l)
	return l
}

// flush emits last lines that did not end.
func (p *process) flush() {
	p.mu.Lock()
	writers := p.writers
	p.mu.Unlock()
	for _, w := range writers {
		w.Flush()
	}
}

// fromHclog finds the message in a line of go-plugin's own logger, which every Go provider has, and reports whether
// the line is one that nobody needs to see.
func fromHclog(line string) (message string, routine bool) {
	var entry struct {
		Level   string `json:"@level"`
		Message string `json:"@message"`
		Error   string `json:"error"`
	}
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &entry) != nil || entry.Level == "" {
		return line, false
	}
	if entry.Error != "" {
		entry.Message += ": " + entry.Error
	}
	return entry.Message, entry.Level == "trace" || entry.Level == "debug"
}

// firstLine is the first line of stdout, as far as there is one.
func (p *process) firstLine() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first
}

// unended reports whether the first line never came to its end.
func (p *process) unended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.broken
}

// felled reports whether it took us to end the child, once exited is closed. A child may be ending by itself when it
// is told to, so how it ended has the last word.
func (p *process) felled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.doomed && p.status.Killed()
}

// closedStdout reports whether the child gave up stdout before it wrote a line to it.
func (p *process) closedStdout() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mute
}

// startedAt is when the child began to exist; zero when it never did.
func (p *process) startedAt() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// kill ends the child and its group at once, or as soon as it is started. It does not wait.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doomed = true
	if p.child != nil {
		p.child.Kill()
	}
}

// spare keeps Kill from killing before the grace time of a shutdown is over: go-plugin would allow two seconds.
func (p *process) spare(grace time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = time.Now().Add(grace)
}

// Kill is how go-plugin ends a child that did not start well or did not leave by itself.
func (p *process) Kill(context.Context) error {
	p.mu.Lock()
	started, grace := p.child != nil, time.Until(p.until)
	p.mu.Unlock()
	if !started {
		return nil
	}
	if grace > 0 {
		select {
		case <-p.exited:
			return nil
		case <-time.After(grace):
		}
	}
	p.kill()
	return nil
}

// Wait returns when the child is gone.
func (p *process) Wait(context.Context) error {
	<-p.exited
	return nil
}

// awaitEnd waits for the end of the child, for as long as it is worth, and reports whether it has ended.
func (p *process) awaitEnd(patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.ended:
		return true
	case <-timer.C:
		return false
	}
}

// ending says how the child ended, such as "exit status 2" or "signal: killed". It may be asked once ended is closed.
func (p *process) ending() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status.String()
}

// Stdout is the handshake line and nothing else.
func (p *process) Stdout() io.ReadCloser { return p.handshake }

// Stderr is empty for go-plugin: it is read here.
func (p *process) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Name is the path of the binary.
func (p *process) Name() string { return p.path }

// ID is the process id; empty before the start.
func (p *process) ID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.child == nil {
		return ""
	}
	return strconv.Itoa(p.child.Pid())
}

// Diagnose is empty: explain says more, in our words.
func (p *process) Diagnose(context.Context) string { return "" }

// PluginToHost returns the address as it is: both run in one file system.
func (p *process) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin returns the address as it is.
func (p *process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

// channel is a pipe from the child.
type channel struct{ ours, childs *os.File }

func openChannel() (channel, error) {
	r, w, err := os.Pipe()
	return channel{ours: r, childs: w}, err
}

func (c channel) closeChild() error { return c.childs.Close() }

func (c channel) close() error { return c.ours.Close() }
