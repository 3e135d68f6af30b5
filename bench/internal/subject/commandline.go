package subject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// commandLine is a peer that is started anew for each call.
type commandLine struct {
	peer *Peer
	vars Vars
}

func (c *commandLine) Name() string       { return c.peer.Name }
func (c *commandLine) PID() int           { return 0 }
func (c *commandLine) Close()             {}
func (c *commandLine) Can(op string) bool { return c.peer.Ops[op] != nil }

func (c *commandLine) Batch(ctx context.Context, op string, b Batch) (Samples, error) {
	return batch(ctx, c, c.peer.Ops[op], b)
}

func (c *commandLine) call(ctx context.Context, s *Step, vars Vars, out func(string)) (func() string, error) {
	argv := vars.PutAll(s.Argv)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = 2 * time.Second // a child of it may hold its stdout
	cmd.Dir, cmd.Env = vars.Put(s.Dir), environment(c.peer, vars)
	if cmd.Dir == "" {
		cmd.Dir = vars["fx"]
	}
	var text bytes.Buffer
	var stderr tail
	cmd.Stdout, cmd.Stderr = &text, &stderr
	if out != nil {
		cmd.Stdout = sink(out)
	}
	err := cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() == 1 && filepath.Base(argv[0]) == "rg" {
		err = nil // nothing was found
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", argv[0], err, stderr.String())
	}
	return text.String, nil
}

type sink func(string)

func (s sink) Write(b []byte) (int, error) {
	s(string(b))
	return len(b), nil
}
