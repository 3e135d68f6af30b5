package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
)

const question = "Go ahead? [y/N] "

// agent runs agent and expects an exit code.
func (s *stage) agent(code int, args ...string) error {
	s.typed("agent", args)
	return expect(code, "agent "+args[0], s.attached("agent", args).Run())
}

// git runs git.
func (s *stage) git(args ...string) error {
	s.typed("git", args)
	return expect(0, "git "+args[0], s.attached("git", args).Run())
}

// attached is a command that writes where the demo does.
func (s *stage) attached(name string, args []string) *exec.Cmd {
	path := name
	if name == "agent" {
		path = filepath.Join(s.bin, name)
	}
	cmd := s.command(path, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout
	return cmd
}

// approve runs agent on a terminal, waits for its question and answers yes, as a person would.
func (s *stage) approve(code int, args ...string) error {
	return s.played(code, args, question, func(_ *os.Process, keyboard io.Writer) error {
		time.Sleep(400 * time.Millisecond) // a person reads before answering
		_, err := io.WriteString(keyboard, "y\n")
		return err
	})
}

// interrupt runs agent on a terminal until it has written text, and then does what Ctrl-C does.
func (s *stage) interrupt(text string, code int, args ...string) error {
	return s.played(code, args, text, func(p *os.Process, _ io.Writer) error {
		return p.Signal(syscall.SIGINT)
	})
}

// played runs agent on a terminal of its own, and acts when it has written text.
func (s *stage) played(code int, args []string, text string, act func(*os.Process, io.Writer) error) error {
	s.typed("agent", args)
	cmd := s.command(filepath.Join(s.bin, "agent"), args...)
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		return err
	}
	defer terminal.Close()
	screen := newScreen(s.colour, text)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		// A terminal ends with an error when the last process on it is gone.
		_, _ = io.Copy(screen, terminal)
		screen.flush()
	}()
	acted := make(chan error, 1)
	select {
	case <-screen.seen:
		acted <- act(cmd.Process, terminal)
	case <-finished:
		acted <- fmt.Errorf("agent %s ended without writing %q", args[0], text)
	case <-time.After(patience):
		acted <- fmt.Errorf("agent %s did not write %q", args[0], text)
		_ = cmd.Process.Kill()
	}
	err = cmd.Wait()
	<-finished
	if failed := <-acted; failed != nil {
		return failed
	}
	return expect(code, "agent "+args[0], err)
}

func expect(code int, what string, err error) error {
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		return fmt.Errorf("%s: %w", what, err)
	}
	if got != code {
		return fmt.Errorf("%s: exit code %d, expected %d", what, got, code)
	}
	return nil
}

// screen passes on what a terminal shows. Where the demo's own output is no terminal, it does what a terminal does with
// a line that is drawn over: only its last state counts.
type screen struct {
	raw    bool
	text   string
	seen   chan struct{}
	recent []byte
	line   []byte
	found  bool
}

func newScreen(raw bool, text string) *screen {
	return &screen{raw: raw, text: text, seen: make(chan struct{})}
}

func (s *screen) Write(p []byte) (int, error) {
	if !s.found {
		s.recent = append(s.recent, p...)
		if bytes.Contains(s.recent, []byte(s.text)) {
			s.found = true
			defer close(s.seen)
		}
	}
	if s.raw {
		return os.Stdout.Write(p)
	}
	s.line = append(s.line, p...)
	for {
		end := bytes.IndexByte(s.line, '\n')
		if end < 0 {
			return len(p), nil
		}
		s.print(s.line[:end])
		fmt.Println()
		s.line = s.line[end+1:]
	}
}

// print writes what is left of a line after it was drawn over.
func (s *screen) print(line []byte) {
	text := strings.TrimRight(string(line), "\r")
	if i := strings.LastIndex(text, "\x1b[K"); i >= 0 {
		text = text[i+len("\x1b[K"):]
	}
	fmt.Print(text)
}

func (s *screen) flush() {
	if len(s.line) > 0 {
		s.print(s.line)
		fmt.Println()
	}
}
