package main

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentco/agent/providers/bash/internal/environ"
	"github.com/agentco/agent/providers/bash/internal/keeper"
	"github.com/agentco/agent/providers/bash/internal/runner"
	"github.com/agentco/agent/providers/bash/internal/shell"
	"github.com/agentco/agent/providers/bash/internal/workdir"
	"github.com/agentco/agent/sdk"
)

// openFiles are what a command is started with; afterwards we need them no more.
type openFiles []*os.File

func (o openFiles) close() {
	for _, f := range o {
		_ = f.Close()
	}
}

// prepare opens everything that a command needs. The caller closes the files, also
// after an error.
func prepare(call *sdk.Call[config], in arguments) (command runner.Command, files openFiles, err error) {
	c := call.Config
	dir, err := openDirectory(call, in)
	if err != nil {
		return command, files, err
	}
	files = append(files, dir)
	typed := in.Background && c.Pty
	var stdin *os.File // the terminal
	if in.Stdin != "" || !typed {
		if stdin, err = openStdin(in.Stdin); err != nil {
			return command, files, notRun(err)
		}
		files = append(files, stdin)
	}
	invocation, err := shell.Invoke(c.shell, in.Command)
	if err != nil {
		return command, files, notRun(err)
	}
	if invocation.Script != nil {
		files = append(files, invocation.Script)
	}
	return runner.Command{
		Spec: keeper.Spec{
			Path: c.shell, Args: invocation.Args, Env: environ.Build(os.Environ(), c.EnvAllow, c.Env, dir.Name()),
			Dir: dir, Stdin: stdin, Extra: invocation.Script, Sandbox: c.sandbox,
		},
		Terminal: c.size(),
		Typed:    typed,
		Timeout:  c.limit(in),
		Idle:     c.idle(in),
		Grace:    milliseconds(c.KillGrace),
		Deserted: c.deserted,
	}, files, nil
}

// limit is when the runner stops a command. One that is to go on then is not its business.
func (c *config) limit(in arguments) time.Duration {
	if in.OnTimeout == onTimeoutBackground {
		return 0
	}
	return milliseconds(in.timeout(c))
}

// idle is how long a command may be silent. In the background, silence is no fault.
func (c *config) idle(in arguments) time.Duration {
	if in.Background || in.OnTimeout == onTimeoutBackground {
		return 0
	}
	return milliseconds(c.IdleTimeout)
}

// deserted reports whether nobody is there to see how a command ends.
func (c *config) deserted() bool { return c.closing.Load() || os.Getppid() != c.parent }

// openDirectory opens the directory that the command starts in.
func openDirectory(call *sdk.Call[config], in arguments) (*os.File, error) {
	path := call.Config.root
	if call.Dir != "" || in.Cwd != "" {
		path = call.Path(in.Cwd)
	}
	dir, err := call.Config.roots.Open(path)
	switch {
	case err == nil:
		return dir, nil
	case errors.Is(err, workdir.ErrOutside):
		return nil, sdk.Denied("start a command in %s: it is outside the allowed roots (%s); choose a directory inside", path, call.Config.roots)
	case errors.Is(err, fs.ErrNotExist):
		return nil, sdk.NotFound("start a command in %s: the directory does not exist; create it first or choose another cwd", path)
	case errors.Is(err, syscall.ENOTDIR):
		return nil, sdk.InvalidArgument("cwd", "%s is not a directory; give the directory to start in", path)
	case errors.Is(err, fs.ErrPermission):
		return nil, sdk.Denied("start a command in %s: %w; choose a directory that may be entered", path, err)
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENAMETOOLONG):
		return nil, sdk.InvalidArgument("cwd", "%v; give the directory to start in", err)
	default:
		return nil, sdk.Failed("start a command in %s: %w; no command was run%s", path, err, remedy(err))
	}
}

// openStdin opens what the command reads. With nothing it is at its end at once, so that
// no command ever waits for an answer.
func openStdin(text string) (*os.File, error) {
	if text == "" {
		fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0) // what os.Open asks a poller about it is in vain
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: os.DevNull, Err: err}
		}
		return os.NewFile(uintptr(fd), os.DevNull), nil
	}
	return shell.File("stdin", text)
}
