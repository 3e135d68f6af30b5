package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
)

// endGrace is how long git may take to remove its locks after it was told to stop.
const endGrace = 3 * time.Second

// quiet keeps git from starting anything that would outlive it.
var quiet = []string{"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.fsmonitor=false"}

// located are the variables that would make git look at another repository than the one that was opened.
var located = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_CEILING_DIRECTORIES", "GIT_QUARANTINE_PATH",
}

// call is one run of the git binary.
type call struct {
	args  []string
	env   []string
	input string
}

// command is the name of the command, behind the settings for this one run.
func (c call) command() string {
	args := c.args
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return args[0]
}

// run runs git in the working tree and returns its standard output. When ctx ends, git is asked to stop, with all it
// started, and killed after a grace time.
func (r *Repo) run(ctx context.Context, c call) (string, error) {
	cmd := exec.CommandContext(ctx, "git", slices.Concat([]string{"-C", r.Root}, quiet, c.args)...)
	cmd.Env = append(r.environment(), c.env...)
	cmd.Stdin = strings.NewReader(c.input)
	var out bytes.Buffer
	var said ending
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.WaitDelay = endGrace
	contain(cmd)
	err := cmd.Run()
	sweep(cmd)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", refusal.New("no-git", "cannot run git in %s: it is not on PATH; install it, or let PATH lead to it", r.Root)
	case errors.Is(err, exec.ErrDot): // it could be a file of the project
		return "", refusal.New("no-git", "cannot run git in %s: PATH leads to one by a relative path, which depends on the folder; let it lead to one by an absolute path", r.Root)
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // git ended well; what a hook left behind held its output open
		return out.String(), nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return "", &gitError{command: c.command(), said: tail(string(said) + out.String()), err: err}
}

// gitError is a run of git that failed.
type gitError struct {
	command string
	said    string
	err     error
}

// Error says which command failed and what git said.
func (e *gitError) Error() string {
	if e.said == "" {
		return fmt.Sprintf("git %s: %v, without a word (a hook may be behind it)", e.command, e.err)
	}
	return fmt.Sprintf("git %s: %s", e.command, e.said)
}

// Unwrap returns the error of the process.
func (e *gitError) Unwrap() error { return e.err }

// code is the exit code of git, -1 if it did not end by itself.
func (e *gitError) code() int {
	if exit, ok := errors.AsType[*exec.ExitError](e.err); ok {
		return exit.ExitCode()
	}
	return -1
}

// failed makes a refusal of a run that failed, and leaves every other error alone.
func failed(err error, format string, args ...any) error {
	if e, ok := errors.AsType[*gitError](err); ok {
		return refusal.New("git-failed", "%s: %w", fmt.Sprintf(format, args...), e)
	}
	return err
}

// mostSaid is how much is shown of what git or a hook said, in bytes.
const mostSaid = 2000

// tail keeps the end of what git or a hook said, where the reason stands.
func tail(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > mostSaid {
		s = "… " + s[len(s)-mostSaid:]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// ending is the end of what is written to it: a hook may say more than there is memory for.
type ending []byte

// Write keeps more than is shown, since the last of it may be blank.
func (e *ending) Write(p []byte) (int, error) {
	const most = 8 * mostSaid
	if *e = append(*e, p[max(0, len(p)-most):]...); len(*e) > 2*most {
		*e = append((*e)[:0], (*e)[len(*e)-most:]...)
	}
	return len(p), nil
}

// environment is that of this process and what is given besides, made safe for a run nobody watches: no prompt, no editor, no lock
// for a read. New tags and commits get the time of the release in UTC, so that their date is the one in the changelog,
// unless the environment sets a date.
func (r *Repo) environment() []string {
	env := slices.DeleteFunc(append(os.Environ(), r.env...), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(located, name)
	})
	env = append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=:", "GIT_PAGER=cat", "SSH_ASKPASS_REQUIRE=never")
	for _, name := range []string{"GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"} {
		if r.getenv(name) == "" {
			env = append(env, fmt.Sprintf("%s=%d +0000", name, r.now.Unix()))
		}
	}
	return env
}

// getenv is a variable as git gets it.
func (r *Repo) getenv(name string) string {
	for _, kv := range r.env {
		if value, is := strings.CutPrefix(kv, name+"="); is {
			return value
		}
	}
	return os.Getenv(name)
}
