package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestTerminal plays a person at a terminal: what is asked, what an answer does, what Ctrl-C does.
func TestTerminal(t *testing.T) {
	const write = "filesystem.write_file path=new.txt content=hello"
	tests := []struct {
		name    string
		command string
		steps   []string // pairs: what to wait for, what to type then
		want    []string
		exit    int
		written bool
	}{
		{"yes", write, []string{"Go ahead? [y/N] ", "y\n"}, []string{"filesystem.write_file", "risk moderate", "hello"}, 0, true},
		{"whole word", write, []string{"Go ahead? [y/N] ", "YES\n"}, nil, 0, true},
		{"no", write, []string{"Go ahead? [y/N] ", "n\n"}, []string{"denied"}, 3, false},
		{"just Enter", write, []string{"Go ahead? [y/N] ", "\n"}, []string{"denied"}, 3, false},
		{"anything else", write, []string{"Go ahead? [y/N] ", "yep\n"}, []string{"denied"}, 3, false},
		{"end of input", write, []string{"Go ahead? [y/N] ", "\x04"}, []string{"denied"}, 3, false},
		{"Ctrl-C at the question", write, []string{"Go ahead? [y/N] ", "\x03"}, []string{"cancelled"}, 130, false},
		{"Ctrl-C in a call", "bash.bash --yes command='echo started; sleep 60'", []string{"│ started", "\x03"},
			[]string{"cancelling; press Ctrl-C again to kill", "cancelled: process received SIGTERM"}, 130, false},
		{"Ctrl-C twice", `bash.bash --yes command='trap "" TERM; echo started; while :; do sleep 1; done'`, []string{"│ started", "\x03", "cancelling", pressAgain},
			[]string{"killing", "cancelled: "}, 130, false},
		{"two streams", "bash.bash --yes command='echo out; echo err >&2'", nil, []string{"│ out", "┃ err"}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := projectDir(t)
			p := startOnTerminal(t, dir, "exec agent invoke "+tt.command)
			for i := 0; i+1 < len(tt.steps); i += 2 {
				p.waitFor(t, tt.steps[i])
				if tt.steps[i+1] == pressAgain {
					p.interruptUntil(t, "killing")
					continue
				}
				p.write(t, tt.steps[i+1])
			}
			require.Equal(t, tt.exit, p.exitCode(t), p.screen())
			require.NotContains(t, p.screen(), "level=")
			for _, want := range tt.want {
				require.Contains(t, p.screen(), want)
			}
			_, err := os.Stat(filepath.Join(dir, "new.txt"))
			require.Equal(t, tt.written, err == nil)
		})
	}
}

// pressAgain is a second Ctrl-C.
const pressAgain = "Ctrl-C again"

// interruptUntil sends what Ctrl-C does until a text is shown: two of them at once are one. With the key the terminal would
// drop what it has not shown yet, that text for one.
func (p *onTerminal) interruptUntil(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(p.screen(), text); {
		require.True(t, time.Now().Before(deadline), "%q was not shown:\n%s", text, p.screen())
		require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
		select {
		case <-p.changed:
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// A Ctrl-C that arrives twice, since whoever runs us passes it on, is one.
func TestCtrlCThatIsPassedOn(t *testing.T) {
	killed := true
	for range 5 { // a slow machine may hear the second one too late to know it for an echo
		p := startOnTerminal(t, projectDir(t), "exec timeout 1000 agent invoke bash.bash --yes command='echo started; sleep 60'")
		p.waitFor(t, "│ started")
		require.NoError(t, p.cmd.Process.Signal(os.Interrupt)) // which timeout passes on, and then once more to its group
		p.waitFor(t, "cancelled: ")
		require.Equal(t, 130, p.exitCode(t), p.screen())
		if killed = strings.Contains(p.screen(), "killing"); !killed {
			require.Contains(t, p.screen(), "cancelled: process received SIGTERM")
			break
		}
	}
	require.False(t, killed)
}

// What a person approved is not shown to them once more.
func TestTerminalShowsADiffOnce(t *testing.T) {
	p := startOnTerminal(t, projectDir(t), "exec agent invoke filesystem.write_file path=new.txt content=hello")
	p.waitFor(t, "Go ahead? [y/N] ")
	p.write(t, "y\n")
	require.Equal(t, 0, p.exitCode(t), p.screen())
	require.Equal(t, 1, strings.Count(p.screen(), "+hello"), p.screen())
	require.Contains(t, p.screen(), "created new.txt")
}

// A terminal that can do nothing gets nothing but text.
func TestDumbTerminal(t *testing.T) {
	p := startOnTerminal(t, projectDir(t), "TERM=dumb NO_COLOR= exec agent invoke bash.bash --yes command='echo out; printf \"a\\rb\\n\"'")
	require.Equal(t, 0, p.exitCode(t), p.screen())
	require.NotContains(t, p.screen(), "\x1b")
	require.NotContains(t, p.screen(), "\r")
	require.Contains(t, p.screen(), "\n· starting process\nout\na\nb\n")
}

// Arguments may come from stdin while a person answers on the terminal.
func TestTerminalWithArgumentsFromStdin(t *testing.T) {
	p := startOnTerminal(t, projectDir(t), `echo '{"path": "new.txt", "content": "x"}' | agent invoke filesystem.write_file --args @-`)
	p.waitFor(t, "Go ahead? [y/N] ")
	p.write(t, "y\n")
	require.Equal(t, 0, p.exitCode(t), p.screen())
}

func projectDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, ".config", "agent")
	require.NoError(t, os.MkdirAll(config, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(config, "config.hcl"), []byte(overrides()), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "agent.hcl"), fmt.Appendf(nil, project, ""), 0o644))
	return dir
}

// onTerminal is a command on a pseudo-terminal of its own.
type onTerminal struct {
	cmd    *exec.Cmd
	master *os.File

	mu      sync.Mutex
	seen    strings.Builder
	changed chan struct{} // gets a value when there is more to see, closed at the end
}

func startOnTerminal(t *testing.T, dir, command string) *onTerminal {
	t.Helper()
	master, slave := openPTY(t)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+filepath.Join(dir, ".config"), "XDG_CACHE_HOME="+filepath.Join(dir, ".cache"), "TERM=xterm", "NO_COLOR=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	require.NoError(t, slave.Close())
	p := &onTerminal{cmd: cmd, master: master, changed: make(chan struct{}, 1)}
	go p.read()
	return p
}

// openPTY opens a terminal. Its master is made non-blocking, so that closing it wakes its reader.
func openPTY(t *testing.T) (master, slave *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	require.NoError(t, err)
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	t.Cleanup(func() { master.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100}))
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	return master, slave
}

func (p *onTerminal) read() {
	defer close(p.changed)
	buf := make([]byte, 4096)
	for {
		n, err := p.master.Read(buf)
		p.mu.Lock()
		p.seen.Write(buf[:n])
		p.mu.Unlock()
		select {
		case p.changed <- struct{}{}:
		default:
		}
		if err != nil { // EIO: the last one has closed the terminal
			return
		}
	}
}

func (p *onTerminal) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.ReplaceAll(p.seen.String(), "\r\n", "\n")
}

func (p *onTerminal) waitFor(t *testing.T, text string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !strings.Contains(p.screen(), text) {
		select {
		case _, open := <-p.changed:
			require.True(t, open || strings.Contains(p.screen(), text), "%q was not shown:\n%s", text, p.screen())
		case <-deadline:
			require.Fail(t, "not shown in time", "%q, but:\n%s", text, p.screen())
		}
	}
}

// waitForMatch waits for what an expression describes, which may be shown in pieces.
func (p *onTerminal) waitForMatch(t *testing.T, expression string) {
	t.Helper()
	match := regexp.MustCompile(expression)
	deadline := time.After(time.Minute)
	for !match.MatchString(p.screen()) {
		select {
		case _, open := <-p.changed:
			require.True(t, open || match.MatchString(p.screen()), "%s was not shown:\n%s", expression, p.screen())
		case <-deadline:
			require.Fail(t, "not shown in time", "%s, but:\n%s", expression, p.screen())
		}
	}
}

func (p *onTerminal) write(t *testing.T, text string) {
	t.Helper()
	_, err := io.WriteString(p.master, text)
	require.NoError(t, err)
}

func (p *onTerminal) exitCode(t *testing.T) int {
	t.Helper()
	err := p.cmd.Wait()
	for range p.changed { // until everything is read
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	require.NoError(t, err)
	return 0
}
