package subject

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/agentco/agent/bench/internal/proc"
)

// process is a peer that was started.
type process struct {
	cmd             *exec.Cmd
	in              io.WriteCloser
	out             io.ReadCloser
	tape            *tape // that out is
	stderr          tail
	ended           chan struct{}
	wireIn, wireOut atomic.Int64 // bytes, as this side sees them
}

// tail keeps the end of what a peer says on stderr.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	t.b = t.b[max(0, len(t.b)-2048):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

// start starts a peer. Its environment is small and the same for all.
func start(p *Peer, vars Vars) (*process, error) {
	argv := vars.PutAll(p.Command)
	x := &process{cmd: exec.Command(argv[0], argv[1:]...), ended: make(chan struct{})}
	x.cmd.Dir, x.cmd.Env, x.cmd.Stderr = vars["fx"], environment(p, vars), &x.stderr
	x.cmd.WaitDelay = time.Second // a child of it may hold its stderr
	if p.Dir != "" {
		x.cmd.Dir = vars.Put(p.Dir)
	}
	in, err := x.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	x.cmd.Stdout = w
	if err := x.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s does not start: %w", p.Name, err)
	}
	_ = w.Close()
	x.in, x.out = &countingWriter{in, &x.wireOut}, &countingReader{r, &x.wireIn}
	if p.DropNoise {
		x.out = dropNoise(x.out)
	}
	x.tape = &tape{ReadCloser: x.out}
	x.out = x.tape
	go func() {
		_ = x.cmd.Wait()
		close(x.ended)
	}()
	return x, nil
}

func environment(p *Peer, vars Vars) []string {
	env := []string{"PATH=" + vars["PATH"], "HOME=" + vars["home"], "SHELL=/bin/bash", "LANG=C.UTF-8", "TERM=xterm"}
	for name, value := range p.Env {
		env = append(env, name+"="+vars.Put(value))
	}
	return env
}

// close ends a peer: by the end of its input, then by signals. What it leaves behind is killed.
func (x *process) close() {
	left := proc.Tree(x.cmd.Process.Pid)
	_ = x.in.Close()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		select {
		case <-x.ended:
		case <-time.After(2 * time.Second):
			_ = x.cmd.Process.Signal(s)
		}
	}
	<-x.ended
	for _, p := range left {
		p.Kill()
	}
	_ = x.out.Close()
}

type countingWriter struct {
	io.WriteCloser
	n *atomic.Int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.WriteCloser.Write(p)
	w.n.Add(int64(n))
	return n, err
}

type countingReader struct {
	io.ReadCloser
	n *atomic.Int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.n.Add(int64(n))
	return n, err
}

// dropNoise leaves out the lines that are no JSON object: some servers log to stdout.
func dropNoise(from io.ReadCloser) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		lines := bufio.NewReaderSize(from, 1<<20)
		for {
			line, err := lines.ReadBytes('\n')
			if len(line) > 1 && line[0] == '{' && line[1] == '"' {
				_, _ = w.Write(line)
			}
			if err != nil {
				_ = w.CloseWithError(err)
				_ = from.Close()
				return
			}
		}
	}()
	return r
}

// hasEnded reports whether the process is over.
func (x *process) hasEnded() bool {
	select {
	case <-x.ended:
		return true
	default:
		return false
	}
}
