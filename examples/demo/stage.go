package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"
)

// patience is how long a step may wait for what must come, on the slowest machine.
const patience = 2 * time.Minute

// stage is the temporary folder a session is played in.
type stage struct {
	ctx     context.Context
	bin     string // the real binaries
	home    string // everything temporary, removed at the end
	project string // the copy of the example
	colour  bool
}

// newStage copies the example, makes it a repository, and points the user's configuration at the binaries.
func newStage(ctx context.Context, bin, project string) (*stage, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "agent-demo-")
	if err != nil {
		return nil, err
	}
	if home, err = filepath.Abs(home); err != nil {
		return nil, err
	}
	s := &stage{ctx: ctx, bin: bin, home: home, project: filepath.Join(home, "rates"), colour: term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == ""}
	if err := s.prepare(project); err != nil {
		_ = os.RemoveAll(home)
		return nil, err
	}
	return s, nil
}

func (s *stage) prepare(project string) error {
	if err := os.CopyFS(s.project, os.DirFS(project)); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"config", "user.name", "Ada Example"},
		{"config", "user.email", "ada@example.com"},
		{"add", "."},
		{"commit", "--quiet", "--message=Rates and amounts"},
	} {
		if out, err := s.command("git", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	config := filepath.Join(s.home, "config", "agent")
	if err := os.MkdirAll(config, 0o700); err != nil {
		return err
	}
	var overrides strings.Builder
	overrides.WriteString("dev_overrides {\n")
	for _, name := range []string{"filesystem", "bash", "release-tools"} {
		fmt.Fprintf(&overrides, "  %s = %q\n", name, filepath.Join(s.bin, "provider-"+name))
	}
	overrides.WriteString("}\n")
	return os.WriteFile(filepath.Join(config, "config.hcl"), []byte(overrides.String()), 0o600)
}

// command is a command in the project, with the demo's own configuration.
func (s *stage) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.ctx, name, args...)
	cmd.Dir = s.project
	cmd.Env = append(os.Environ(),
		"XDG_CONFIG_HOME="+filepath.Join(s.home, "config"), "XDG_STATE_HOME="+filepath.Join(s.home, "state"),
		"GIT_PAGER=cat", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
	)
	if !s.colour {
		cmd.Env = append(cmd.Env, "NO_COLOR=1")
	}
	// A cancelled demo asks first, so that agent can end what it runs.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 15 * time.Second
	return cmd
}

// say writes a line of narration.
func (s *stage) say(text string) {
	if s.colour {
		text = "\x1b[1m" + text + "\x1b[0m"
	}
	fmt.Printf("\n%s\n", text)
}

// typed shows a command the way one types it.
func (s *stage) typed(name string, args []string) {
	line := "$ " + name
	for _, a := range args {
		line += " " + quoted(a)
	}
	if s.colour {
		line = "\x1b[36m" + line + "\x1b[0m"
	}
	fmt.Println(line)
}

// quoted is an argument as a shell wants it.
func quoted(a string) string {
	name, value, ok := strings.Cut(a, "=")
	if !ok || strings.HasPrefix(a, "--") {
		name, value = "", a
	} else {
		name += "="
	}
	if strings.ContainsAny(value, " ;$\"'*%") {
		value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
	}
	return name + value
}

// leave removes the folder. Nothing that the demo started may still be there.
func (s *stage) leave() error {
	left := s.running()
	for range 20 {
		if len(left) == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
		left = s.running()
	}
	if err := os.RemoveAll(s.home); err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("still running: %s", strings.Join(left, ", "))
	}
	s.say("Nothing that the demo started is still running; its folder is gone.")
	return nil
}

// running names the processes that run one of the binaries or sit in the demo's folder. It needs /proc, and finds none
// without.
func (s *stage) running() (found []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		exe, _ := os.Readlink(link)
		dir, _ := os.Readlink(filepath.Join(filepath.Dir(link), "cwd"))
		ours := strings.HasPrefix(dir, s.home) || strings.HasPrefix(exe, filepath.Join(s.bin, "provider-"))
		if ours {
			found = append(found, fmt.Sprintf("%s (%s)", filepath.Base(exe), filepath.Base(filepath.Dir(link))))
		}
	}
	return found
}
