package main

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/agentco/agent/providers/bash/internal/background"
	"github.com/agentco/agent/providers/bash/internal/environ"
	"github.com/agentco/agent/providers/bash/internal/keeper"
	"github.com/agentco/agent/providers/bash/internal/sandbox"
	"github.com/agentco/agent/providers/bash/internal/shell"
	"github.com/agentco/agent/providers/bash/internal/terminal"
	"github.com/agentco/agent/providers/bash/internal/workdir"
	"github.com/agentco/agent/sdk"
)

// config is the provider block, and below it what calls need that was made of it.
type config struct {
	AllowedRoots   []string          `hcl:"allowed_roots,optional" doc:"Directories that commands may start in, with what is below them. Default: the root of the project."`
	Shell          string            `hcl:"shell,optional" doc:"Shell that runs the commands, a name or a path. Default: bash, or sh where there is none."`
	DefaultTimeout int               `hcl:"default_timeout_ms" default:"120000" doc:"Milliseconds after which a command is stopped that asks for no other limit."`
	MaxTimeout     int               `hcl:"max_timeout_ms" default:"600000" doc:"The longest limit in milliseconds that a command may ask for."`
	IdleTimeout    int               `hcl:"idle_timeout_ms" default:"0" doc:"Milliseconds without output after which a command is stopped; 0 for no such limit."`
	KillGrace      int               `hcl:"kill_grace_ms" default:"3000" doc:"Milliseconds between SIGTERM and SIGKILL, at most 4000."`
	EnvAllow       []string          `hcl:"env_allow" default:"[\"PATH\",\"HOME\",\"USER\",\"LANG\",\"LC_*\",\"TZ\",\"TMPDIR\",\"SHELL\"]" doc:"Names or patterns of the provider's environment variables that commands get. A process of the same user can still read the provider's environment in /proc."`
	Env            map[string]string `hcl:"env,optional" doc:"Environment variables that commands get besides, such as TERM or NO_COLOR."`
	MaxResult      int               `hcl:"max_result_bytes" default:"30000" doc:"How much of the output a result carries, between 1000 and 1000000 bytes."`
	Columns        int               `hcl:"columns" default:"120" doc:"Width of the terminal."`
	Rows           int               `hcl:"rows" default:"40" doc:"Height of the terminal."`
	Sandbox        string            `hcl:"sandbox" default:"off" doc:"off, or landlock: commands write nothing outside allowed_roots and their TMPDIR. Where that cannot be had the provider does not start."`
	Network        bool              `hcl:"network" default:"true" doc:"Whether commands may use the network. A filter takes every socket but Unix and netlink ones away, with or without sandbox; what a service behind a Unix socket does for a command is not stopped."`
	ReadCommands   []string          `hcl:"read_commands,optional" doc:"Commands that shell_read runs besides its own list, whatever their arguments: a name, or a name and its first argument, such as \"terraform show\"."`
	MaxBackground  int               `hcl:"max_background" default:"16" doc:"How many processes of a session may run in the background; 0 for none."`
	Pty            bool              `hcl:"pty" default:"true" doc:"Whether commands write to terminals, which makes most of them print at once; else to pipes."`

	parent  int    // process id of the kernel
	root    string // where a call starts that names no directory
	roots   *workdir.Roots
	shell   string
	pool    *keeper.Pool
	closing atomic.Bool

	background background.Set
	sandbox    *sandbox.Policy // what commands may not do
	reading    reading
	outputs    outputs
}

const (
	// maxGrace leaves a cancelled call time to report before the SDK abandons it.
	maxGrace = 4 * time.Second

	// deadline is for a kernel whose configuration sets none: our own limits come first.
	deadline = 10*time.Minute + 30*time.Second
)

// setup checks the configuration and starts the first keeper.
func setup(_ context.Context, c *config, env sdk.Env) error {
	for _, check := range []func() error{c.checkTimes, c.checkSizes, c.checkEnvironment, c.checkReading} {
		if err := check(); err != nil {
			return err
		}
	}
	if err := c.openRoots(env.Dir); err != nil {
		return err
	}
	if err := c.openSandbox(); err != nil {
		return err
	}
	if err := c.openReading(); err != nil {
		return err
	}
	var err error
	if c.shell, err = shell.Find(c.Shell); err != nil {
		return sdk.BadField("shell", "find a shell to run commands with: %w; install it or name another one", err)
	}
	c.parent = os.Getppid()
	if c.pool, err = keeper.Open(c.sandbox); err != nil {
		return sdk.Failed("prepare to run commands: %w", err)
	}
	return nil
}

// teardown ends what runs and removes what was kept.
func teardown(c *config) error {
	c.closing.Store(true)
	c.background.Close()
	if c.pool == nil {
		return errors.Join(c.outputs.release(), c.closeReading(), c.sandbox.Close())
	}
	return errors.Join(c.pool.Close(), c.outputs.release(), c.closeReading(), c.sandbox.Close())
}

// within refuses a number that is out of its bounds.
func within(attribute string, value, low, high int) error {
	if value < low || value > high {
		return sdk.BadField(attribute, "%d is not between %d and %d", value, low, high)
	}
	return nil
}

func (c *config) checkTimes() error {
	const day = 24 * 60 * 60 * 1000
	if c.MaxTimeout >= 1 && c.DefaultTimeout > c.MaxTimeout { // which may be the only one that was written
		return sdk.BadField("default_timeout_ms", "%d is more than max_timeout_ms, which is %d; set both", c.DefaultTimeout, c.MaxTimeout)
	}
	for _, err := range []error{
		within("max_timeout_ms", c.MaxTimeout, 1, day),
		within("default_timeout_ms", c.DefaultTimeout, 1, day),
		within("idle_timeout_ms", c.IdleTimeout, 0, day),
		within("kill_grace_ms", c.KillGrace, 0, int(maxGrace.Milliseconds())),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *config) checkSizes() error {
	for _, err := range []error{
		within("max_result_bytes", c.MaxResult, 1_000, 1_000_000),
		within("columns", c.Columns, 1, math.MaxUint16),
		within("rows", c.Rows, 1, math.MaxUint16),
		within("max_background", c.MaxBackground, 0, 256),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *config) checkEnvironment() error {
	for _, pattern := range c.EnvAllow {
		if err := environ.CheckPattern(pattern); err != nil {
			return sdk.BadField("env_allow", "%w", err)
		}
	}
	for name, value := range c.Env {
		if err := environ.CheckVariable(name, value); err != nil {
			return sdk.BadField("env", "%w", err)
		}
	}
	return nil
}

func (c *config) openRoots(base string) error {
	names := c.AllowedRoots
	if len(names) == 0 {
		names = []string{"."}
	}
	roots, err := workdir.NewRoots(base, names)
	if err != nil {
		return sdk.BadField("allowed_roots", "%s; each root must be a directory that exists", because(err))
	}
	c.root, c.roots = base, roots
	return nil
}

// because says why a directory cannot be used.
func because(err error) string {
	var at *fs.PathError
	if !errors.As(err, &at) {
		return err.Error()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return at.Path + " does not exist"
	case errors.Is(err, syscall.ENOTDIR):
		return at.Path + " is not a directory"
	default:
		return err.Error()
	}
}

func (c *config) size() *terminal.Size {
	if !c.Pty {
		return nil
	}
	return &terminal.Size{Columns: c.Columns, Rows: c.Rows}
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }
