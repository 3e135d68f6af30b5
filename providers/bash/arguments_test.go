//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk/sdktest"
)

const (
	invalid  = toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS
	notFound = toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND
	denied   = toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED
)

func TestRefusedArguments(t *testing.T) {
	h := start(t, nil)
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(h.Dir, "afile"), nil, 0o600))
	require.NoError(t, os.Symlink(outside, filepath.Join(h.Dir, "out")))
	require.NoError(t, os.Symlink("loop", filepath.Join(h.Dir, "loop")))
	for _, c := range []struct {
		name      string
		arguments fields
		category  toolv1.ToolErrorCategory
		message   string
	}{
		{"no command", fields{}, invalid, "command"},
		{"empty command", fields{"command": " \n\t"}, invalid, "command"},
		{"NUL", fields{"command": "echo a\x00b"}, invalid, "command"},
		{"command of the wrong type", fields{"command": 1}, invalid, "command"},
		{"unknown argument", fields{"command": "true", "sudo": true}, invalid, "sudo"},
		{"timeout 0", fields{"command": "true", "timeout_ms": 0}, invalid, "timeout_ms"},                  // SO-14
		{"negative timeout", fields{"command": "true", "timeout_ms": -5}, invalid, "timeout_ms"},          // SO-14
		{"fractional timeout", fields{"command": "true", "timeout_ms": 1.5}, invalid, "timeout_ms"},       // SO-14
		{"timeout too long", fields{"command": "true", "timeout_ms": 86_400_000}, invalid, "timeout_ms"},  // SO-14
		{"timeout beyond numbers", fields{"command": "true", "timeout_ms": 1e300}, invalid, "timeout_ms"}, // SO-14
		{"missing directory", fields{"command": "true", "cwd": "none"}, notFound, h.Dir + "/none"},        // SO-33
		{"not a directory", fields{"command": "true", "cwd": "afile"}, invalid, "not a directory"},        // SO-33
		{"below a file", fields{"command": "true", "cwd": "afile/x"}, invalid, "not a directory"},         // SO-33
		{"outside", fields{"command": "true", "cwd": outside}, denied, "outside the allowed roots"},
		{"parent", fields{"command": "true", "cwd": ".."}, denied, "outside the allowed roots"},
		{"root of the system", fields{"command": "true", "cwd": "/"}, denied, "outside the allowed roots"},
		{"link out", fields{"command": "true", "cwd": "out"}, denied, "outside the allowed roots"},
		{"magic link out", fields{"command": "true", "cwd": "/proc/self/root"}, denied, "outside the allowed roots"},
		{"link to itself", fields{"command": "true", "cwd": "loop"}, invalid, "too many levels"},
		{"name too long", fields{"command": "true", "cwd": strings.Repeat("x", 300)}, invalid, "too long"},
		{"NUL in the directory", fields{"command": "true", "cwd": "a\x00b"}, invalid, "cwd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := bashCall(t, h, c.arguments)
			require.NotNil(t, r.Err)
			require.Equal(t, c.category, r.Err.GetCategory(), r.Err.GetMessage())
			require.Contains(t, r.Err.GetMessage(), c.message)
			require.Equal(t, []string{"error"}, sequence(r), "nothing was started")
			_, err := h.Preview(t.Context(), "bash", c.arguments)
			require.Equal(t, c.category, sdktest.ToolError(err).GetCategory(), "the preview checks the same")
		})
	}
}

func TestDirectories(t *testing.T) {
	h := start(t, nil)
	require.NoError(t, os.MkdirAll(filepath.Join(h.Dir, "a dir/deep"), 0o700))
	require.NoError(t, os.Symlink("a dir", filepath.Join(h.Dir, "link")))
	for _, c := range []struct{ name, cwd, want string }{
		{"default", "", h.Dir},
		{"relative", "a dir/deep", h.Dir + "/a dir/deep"},
		{"absolute", h.Dir + "/a dir", h.Dir + "/a dir"},
		{"through a link, as asked for", "link/deep", h.Dir + "/link/deep"},
		{"up and down", "a dir/../a dir/deep/..", h.Dir + "/a dir"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := bashCall(t, h, fields{"command": "pwd", "cwd": c.cwd})
			require.Equal(t, c.want+"\n", r.Stdout)
		})
	}
}

func TestShellThatCannotBeStarted(t *testing.T) {
	shell := filepath.Join(t.TempDir(), "sh")
	require.NoError(t, os.WriteFile(shell, []byte("\x7fELF"), 0o700))
	for _, c := range []struct {
		name   string
		config fields
		says   string
	}{
		{"too large an environment", fields{"env": fields{"X": strings.Repeat("x", 2<<20)}}, "argument list too long (in %s); no command was run; make the environment"},
		{"no program", fields{"shell": shell}, "exec format error (in %s); no command was run; see that the shell can be executed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := start(t, c.config)
			r := bashCall(t, h, fields{"command": "true"})
			require.Equal(t, failed, r.Err.GetCategory())
			require.Contains(t, r.Err.GetMessage(), fmt.Sprintf(c.says, h.Dir))
		})
	}
}

// What the system has no more of is nobody's argument.
func TestTooManyFiles(t *testing.T) {
	h := startWith(t, fields{"max_background": 256}, func(c fields) *sdktest.Harness {
		return sdktest.StartProcess(t, exec.Command("/bin/sh", "-c", `ulimit -n 64; exec "$0"`, *binaryPath), c)
	})
	var last *sdktest.Result
	var ids []any
	for {
		r := bashCall(t, h, fields{"command": "sleep 1000", "background": true, "stdin": "x"})
		if r.Err != nil {
			last = r
			break
		}
		ids = append(ids, r.Result["session_id"])
	}
	require.Equal(t, failed, last.Err.GetCategory(), last.Err.GetMessage())
	require.Contains(t, last.Err.GetMessage(), "too many open files; no command was run; end processes in the background, or let")
	require.NotEmpty(t, ids)
	for _, id := range ids {
		tool(t, h, "process_signal", fields{"id": id, "signal": "SIGKILL"})
		ended(t, h, id.(string))
	}
	require.Equal(t, "fine\n", run(t, h, "echo fine").Stdout)
}

func TestInput(t *testing.T) {
	h := start(t, nil)
	for _, c := range []struct {
		name           string
		command, stdin string
		want           string
	}{
		{"nothing to read", "cat; echo rc=$?", "", "rc=0\n"},                                               // SO-05
		{"a question", `read -r -p 'Proceed? (y) ' a; echo "rc=$? got=[$a]"`, "", "rc=1 got=[]\n"},         // SO-06
		{"a password", `(read -rs p </dev/tty) 2>/dev/null; echo rc=$?`, "", "rc=1\n"},                     // SO-06: there is no terminal to ask
		{"a cursor query", `printf '\033[6n'; IFS= read -rs -d R -t 3 p; echo rc=$?`, "", "\x1b[6nrc=1\n"}, // SO-09
		{"given", "cat", "ping\n", "ping\n"},                                                               // SO-26
		{"given and not read", "echo hi", strings.Repeat("x", 1<<20), "hi\n"},                              // no SIGPIPE, no hang
		{"much", "wc -c", strings.Repeat("x", 1<<20), "1048576\n"},                                         //
		{"beside a long command", "cat #" + strings.Repeat("x", 200_000), "in\n", "in\n"},                  // SO-34
		{"a terminal to write to", "test -t 0; echo $?; test -t 1; echo $?; test -t 2; echo $?", "", "1\n0\n0\n"},
		{"of a size", "stty size <&1; tput cols", "", "40 120\n120\n"}, // SO-27
	} {
		t.Run(c.name, func(t *testing.T) {
			arguments := fields{"command": c.command, "timeout_ms": 60_000}
			if c.stdin != "" {
				arguments["stdin"] = c.stdin
			}
			r := bashCall(t, h, arguments)
			require.Nil(t, r.Err)
			require.Equal(t, c.want, r.Stdout)
			require.EqualValues(t, 0, r.Result["exit_code"])
		})
	}
}

// SO-32
func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"OPENAI_API_KEY": "sk-example-1", "MY_SERVICE_TOKEN": "tok-example-2", "LC_TIME": "C", "EXTRA_ONE": "1",
		"BASH_ENV": "/nonexistent", "PAGER": "less", "LANG": "C.UTF-8",
	} {
		t.Setenv(name, value)
	}
	r := run(t, start(t, nil), "env")
	for _, want := range []string{
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "LC_TIME=C", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
		"GIT_EDITOR=true", "EDITOR=true", "DEBIAN_FRONTEND=noninteractive", "NO_COLOR=1", "TERM=dumb",
	} {
		require.Contains(t, "\n"+r.Stdout, "\n"+want+"\n")
	}
	for _, secret := range []string{"sk-example-1", "tok-example-2", "BASH_ENV", "EXTRA_ONE"} {
		require.NotContains(t, r.Stdout, secret)
	}
	t.Run("configured", func(t *testing.T) {
		h := start(t, fields{"env_allow": []any{"PATH", "EXTRA_*"}, "env": fields{"TERM": "xterm", "NO_COLOR": "", "X": "a=b\nc"}})
		r := run(t, h, `env | grep -E '^(EXTRA_ONE|TERM|NO_COLOR|LANG)=' | sort; printf %s "$X"`)
		require.Equal(t, "EXTRA_ONE=1\nNO_COLOR=\nTERM=xterm\na=b\nc", r.Stdout)
	})
}

// SO-05: a tool that looks whether there is something to read before it searches the directory.
func TestSearchWithoutInput(t *testing.T) {
	if _, err := exec.LookPath("rg"); err != nil {
		t.Skip("ripgrep is not installed")
	}
	h := start(t, nil)
	require.NoError(t, os.WriteFile(filepath.Join(h.Dir, "hay"), []byte("needle\n"), 0o600))
	require.Regexp(t, `^hay\s.*needle\nrc=0\n$`, run(t, h, "rg needle; echo rc=$?").Stdout)
}

// SO-37: there are no limits but those that the provider was started with.
func TestLimitsAreTheUsersOwn(t *testing.T) {
	own, err := exec.Command("bash", "-c", "ulimit -a; ulimit -Ha").Output()
	require.NoError(t, err)
	require.Equal(t, string(own), run(t, start(t, nil), "ulimit -a; ulimit -Ha").Stdout)
}

// SO-35, SO-36
func TestShellIsPlain(t *testing.T) {
	home := t.TempDir()
	for _, file := range []string{".bashrc", ".bash_profile", ".profile"} {
		require.NoError(t, os.WriteFile(filepath.Join(home, file), []byte("echo from "+file+"\n"), 0o600))
	}
	t.Setenv("HOME", home)
	h := start(t, nil)
	r := run(t, h, `shopt login_shell; echo $-; echo $0`)
	require.Equal(t, "login_shell    \toff\nhBc\nbash\n", r.Stdout)
	r = run(t, h, `yes | head -n 1; echo ${PIPESTATUS[*]}; grep -E 'SigIgn|SigBlk' /proc/self/status; umask; ulimit -n; ls /proc/self/fd | tr '\n' ' '`)
	lines := strings.Split(ownSignals(r.Stdout), "\n")
	require.Equal(t, []string{"y", "141 0", "SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000"}, lines[:4])
	require.Equal(t, "0 1 2 3 ", lines[6], "ls holds 3 itself")
	require.Empty(t, r.Stderr)
}

// SO-07, SO-08
func TestGitNeitherPagesNorEdits(t *testing.T) {
	h := start(t, fields{"env": fields{
		"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
	}})
	run(t, h, `git init -q . && for i in $(seq 60); do git commit -q --allow-empty -m "commit $i"; done`)
	r := run(t, h, "git log")
	require.Equal(t, 60, strings.Count(r.Stdout, "\ncommit ")+1)
	require.NotContains(t, r.Stdout, "\x1b")
	require.EqualValues(t, 0, r.Result["exit_code"])
	r = run(t, h, "git commit --amend --allow-empty && git log -1 --format=%s")
	require.Contains(t, r.Stdout, "commit 60\n")
	require.EqualValues(t, 0, r.Result["exit_code"])
}

// ownSignals hides signals 32 and 33 in what /proc says of a process: the C library keeps them for itself, no shell can
// use them, and some programs, make among them, start their children with these ignored.
func ownSignals(status string) string {
	return regexp.MustCompile(`(?m)^SigIgn:\t0000000[01][08]0000000$`).ReplaceAllString(status, "SigIgn:\t0000000000000000")
}
