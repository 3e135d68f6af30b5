//go:build linux

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/providers/bash/internal/readonly"
	"github.com/agentco/agent/providers/bash/internal/sandbox"
	"github.com/agentco/agent/sdk/sdktest"
)

// library is a folder with a bit of everything that commands read, and with files whose
// names are options. It is below the TMPDIR of commands, where the sandbox of shell_read
// lets them write: what keeps it as it is are the rules alone.
func library(t testing.TB) (h *sdktest.Harness) {
	t.Helper()
	temporary := t.TempDir()
	root := filepath.Join(temporary, "library")
	for name, text := range map[string]string{
		"a.txt": "foo\nbar\nfoo\n\nmain\n", "b.txt": "bar\nfoo\n", "data.csv": "x,1\ny,20\n", "archive.gz": "",
		"data.json":   `{"name":"n","items":[{"n":1,"name":"a"},{"n":2,"name":"b"}]}`,
		"src/main.go": "package main\n\nfunc main() {\n}\n", "src/lib.go": "package main\n", "go.mod": "module x\n",
		"-delete": "", "-rf": "", "--output=c.txt": "",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, script := range []string{
		"printf text | gzip >archive.gz; tar cf archive.tar src",
		"git init -q -b main; git config user.name x; git config user.email x@example.com; git remote add origin ../origin",
		"git add .; git commit -qm first; echo more >>a.txt; git commit -qam second; git tag v1",
		"echo stashed >>b.txt; git stash -q; echo changed >>a.txt; touch b.txt",
	} {
		cmd := exec.Command("bash", "-ec", script)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	h = start(t, fields{"allowed_roots": []any{root}, "env": fields{"TMPDIR": temporary}})
	h.Dir = root
	return h
}

// hashOf is everything there is to say about a folder, contents, modes, links and times.
func hashOf(t testing.TB, root string) string {
	t.Helper()
	sum := sha256.New()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		fmt.Fprintln(sum, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		if d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			sum.Write(text)
		}
		return nil
	}))
	return hex.EncodeToString(sum.Sum(nil))
}

// scripts are the lines of a table of internal/readonly.
func scripts(t testing.TB, file string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile("internal/readonly/testdata/" + file)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		line = strings.NewReplacer("⏎", "\n", "␍", "\r").Replace(strings.TrimSuffix(line, "\n"))
		if _, script, found := strings.Cut(line, " ⇒ "); found {
			lines = append(lines, script)
		} else if line != "" && !strings.HasPrefix(line, "# ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// Whatever is allowed is really run, and changes nothing.
func TestShellReadChangesNothing(t *testing.T) {
	h := library(t)
	before := hashOf(t, filepath.Dir(h.Dir))
	missing := map[string]bool{}
	for _, script := range scripts(t, "allowed.txt") {
		t.Run(script, func(t *testing.T) {
			r := h.Call(t.Context(), "shell_read", fields{"command": script})
			require.Nil(t, r.Err, "%v", r.Err)
			require.Equal(t, before, hashOf(t, filepath.Dir(h.Dir)))
			switch code := r.Result["exit_code"]; code {
			case float64(127):
				missing[r.Stderr] = true
			case float64(0), float64(1), float64(2), float64(3), float64(123): // of xargs, and of ls with a file that is called like an option
			default:
				require.Fail(t, "it does not work", "exit code %v: %s", code, r.Stderr)
			}
		})
	}
	t.Logf("not installed: %v", missing)
}

// Pieces of the tables put together at random: what the rules let pass is run, and
// changes nothing. The second table is where the dangerous pieces come from.
func TestShellReadMutations(t *testing.T) {
	if testing.Short() {
		t.Skip("runs some hundred commands")
	}
	h := library(t)
	before := hashOf(t, filepath.Dir(h.Dir))
	pool := append(scripts(t, "allowed.txt"), scripts(t, "refused.txt")...)
	random := rand.New(rand.NewPCG(3, 4))
	glue := strings.Split(" |;|\n|&&| -|--|\\|'|\"|*|", "|")
	for ran := 0; ran < 150; {
		a, b := []rune(pool[random.IntN(len(pool))]), []rune(pool[random.IntN(len(pool))])
		script := string(a[:random.IntN(len(a)+1)]) + glue[random.IntN(len(glue))] + string(b[random.IntN(len(b)):])
		if _, err := (&readonly.Rules{}).Check(script); err != nil || strings.Contains(script, "sleep") {
			continue
		}
		ran++
		r := h.Call(t.Context(), "shell_read", fields{"command": script})
		require.Equal(t, before, hashOf(t, filepath.Dir(h.Dir)), "%s: %v", script, r.Result)
	}
}

func TestShellReadRefusals(t *testing.T) {
	h := start(t, nil)
	for _, c := range []struct{ name, command, word, advice string }{
		{"another command", "ls; r\\m x", `r\m`, "use bash"},
		{"an option", "sort -o x y", "-o", "use bash"},
		{"a file", "ls >x", ">x", "use bash"},
		{"a substitution", "echo $(ls)", "$(ls)", "call it first"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := h.Call(t.Context(), "shell_read", fields{"command": c.command})
			require.NotNil(t, r.Err)
			require.Equal(t, denied, r.Err.GetCategory())
			require.Contains(t, r.Err.GetMessage(), fmt.Sprintf("%q", c.word))
			require.Contains(t, r.Err.GetMessage(), c.advice)
			require.Equal(t, c.word, r.Err.GetDetails().AsMap()["word"])
			require.Equal(t, []string{"error"}, sequence(r), "nothing was started")
			_, err := h.Preview(t.Context(), "shell_read", fields{"command": c.command})
			require.Equal(t, denied, sdktest.ToolError(err).GetCategory())
		})
	}
	for name, arguments := range map[string]fields{"empty": {"command": " "}, "NUL": {"command": "ls \x00"}, "stdin": {"command": "cat", "stdin": "x"}} {
		r := h.Call(t.Context(), "shell_read", arguments)
		require.Equal(t, invalid, r.Err.GetCategory(), name)
	}
	r := h.Call(t.Context(), "shell_read", fields{"command": "ls", "cwd": "/"})
	require.Equal(t, denied, r.Err.GetCategory())
}

func TestShellReadStreams(t *testing.T) {
	h := start(t, nil)
	r := h.Call(t.Context(), "shell_read", fields{"command": "echo one; echo two >&2; exit 3"})
	require.Nil(t, r.Err)
	require.Equal(t, "one\n", r.Stdout)
	require.Equal(t, "two\n", r.Stderr)
	require.EqualValues(t, 3, exitOf(t, r).GetExitCode())
	require.EqualValues(t, 3, r.Result["exit_code"])
	require.Contains(t, []any{"one\ntwo\n", "two\none\n"}, r.Result["output"], "nobody paused in between")
}

// What users met with commands that read holds for shell_read too.
func TestShellReadCases(t *testing.T) {
	t.Setenv("MY_SERVICE_TOKEN", "tok-example-2")
	h := library(t)
	cmd := exec.Command("bash", "-ec", "for i in {1..60}; do git commit -q --allow-empty -m c$i; done; git stash drop -q")
	cmd.Dir = h.Dir
	require.NoError(t, cmd.Run())
	for _, c := range []struct{ name, command, want string }{
		{"a pager", "git log --format=%s | wc -l; git log --format=%s -2", "62\nc60\nc59\n"},                         // SO-07
		{"nothing on stdin", "cat; echo rc=$?; rg -l main src; echo rc=$?", "rc=0\nsrc/main.go\nsrc/lib.go\nrc=0\n"}, // SO-05
		{"a syntax error", "echo ok", "ok\n"},                                                        // SO-10, after the refusal below
		{"a secret", "env | grep -c TOKEN", "0\n"},                                                   // SO-32
		{"raw bytes", "printf 'a\\nb\\n'", "a\nb\n"},                                                 // SO-25
		{"a character in two pieces", `printf 'pre \342'; printf '\224\200 post\n'`, "pre ─ post\n"}, // SO-19
	} {
		t.Run(c.name, func(t *testing.T) {
			r := h.Call(t.Context(), "shell_read", fields{"command": "echo 'abc"})
			require.Equal(t, denied, r.Err.GetCategory())
			r = h.Call(t.Context(), "shell_read", fields{"command": c.command})
			require.Nil(t, r.Err, "%v", r.Err)
			require.ElementsMatch(t, strings.SplitAfter(c.want, "\n"), strings.SplitAfter(r.Stdout, "\n"))
		})
	}
}

// Nothing that a repository or a folder can say makes a program of its own run.
func TestShellReadInHostilePlaces(t *testing.T) {
	h := library(t)
	mark := filepath.Join(filepath.Dir(h.Dir), "mark")
	program := filepath.Join(h.Dir, "evil")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >>"+mark+"\n"), 0o700))
	for _, name := range []string{"ls", "git", "cat", "gpg", "false", "gzip"} {
		require.NoError(t, os.Symlink("evil", filepath.Join(h.Dir, name)))
	}
	settings := []string{
		"core.fsmonitor", "core.pager", "pager.log", "pager.status", "pager.diff", "pager.branch", "diff.external", "diff.evil.command",
		"diff.evil.textconv", "core.sshCommand", "core.editor", "core.askPass", "gpg.program", "gpg.ssh.program", "core.alternateRefsCommand",
		"credential.helper", "interactive.diffFilter", "uploadpack.packObjectsHook", "remote.origin.uploadpack", "merge.evil.driver",
	}
	script := "mkdir -p hooks; for h in post-index-change post-checkout pre-commit reference-transaction fsmonitor-watchman; do ln -s ../evil hooks/$h; done; git config core.hooksPath hooks;" +
		"git config log.showSignature true; git config status.submoduleSummary true; git config diff.submodule diff; git config alias.st '!./evil';" +
		"git config remote.origin.url ext::./evil; git config protocol.ext.allow always; git config remote.origin.promisor true; git config extensions.partialClone origin;" +
		"printf '* diff=evil merge=evil\\n' >.gitattributes; printf -- '--pre=./evil\\n' >.ripgreprc; printf 'go 1.99.0\\ntoolchain go1.99.0\\n' >>go.mod;"
	for _, s := range settings {
		script += "git config --add " + s + " ./evil;"
	}
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = h.Dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	// A merge whose parts are merged again to be shown would ask the driver.
	for _, script := range []string{
		"git config log.diffMerges remerge; git commit -qam dirty; git checkout -qb side HEAD~1; printf 'side\n' >>a.txt; git commit -qam side; git checkout -qf main",
		"git merge -q --no-edit side || { git checkout --ours a.txt; git add a.txt; git commit -qm merge; }; echo changed >>a.txt",
	} {
		cmd := exec.Command("bash", "-ec", script)
		cmd.Dir = h.Dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false",
			"GIT_CONFIG_KEY_1=core.hooksPath", "GIT_CONFIG_VALUE_1=/dev/null", "GIT_CONFIG_KEY_2=merge.evil.driver", "GIT_CONFIG_VALUE_2=false")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	require.NoError(t, os.RemoveAll(mark))
	t.Setenv("PATH", ".::"+h.Dir+":"+os.Getenv("PATH"))
	for name, value := range map[string]string{
		"BASH_ENV": program, "ENV": program, "GIT_EXTERNAL_DIFF": program, "GIT_PAGER": program, "PAGER": program, "LD_PRELOAD": "",
		"BASH_FUNC_ls%%": "() { ./evil; }", "GIT_SSH": program, "GIT_TRACE": mark, "RIPGREP_CONFIG_PATH": ".ripgreprc", "TAR_OPTIONS": "--to-command=./evil", "LESSOPEN": "|./evil",
	} {
		t.Setenv(name, value)
	}
	// The mark is in TMPDIR, so that no sandbox keeps it from being left.
	hostile := startIn(t, h.Dir, fields{"env_allow": []any{"*"}, "env": fields{"TMPDIR": filepath.Dir(mark)}})
	for _, script := range append(scripts(t, "allowed.txt"), "git log -p", "git log -p -m", "git show -m HEAD", "git log --format='%G?'", "git cat-file -p 1234567890123456789012345678901234567890") {
		r := hostile.Call(t.Context(), "shell_read", fields{"command": script})
		require.Nil(t, r.Err, "%s: %v", script, r.Err)
		text, _ := os.ReadFile(mark)
		require.Empty(t, string(text), script)
	}
	// The place is as hostile as it is meant to be.
	for _, script := range []string{"git status", "git diff", "git show -m HEAD", "ls"} {
		require.NoError(t, os.RemoveAll(mark))
		require.Nil(t, bashCall(t, hostile, fields{"command": script}).Err)
		text, _ := os.ReadFile(mark)
		require.NotEmpty(t, string(text), script)
	}
}

// startIn is start with a root that is there already.
func startIn(t testing.TB, root string, extra fields) *sdktest.Harness {
	t.Helper()
	c := fields{"allowed_roots": []any{root}}
	for name, value := range extra {
		c[name] = value
	}
	h := sdktest.StartProcess(t, exec.Command(*binaryPath), c)
	h.Dir = root
	return h
}

// Filters have names that anybody can choose, so nothing overrules them.
func TestShellReadFindsFilters(t *testing.T) {
	h := library(t)
	configure := func(file, setting string) {
		cmd := exec.Command("git", "config", "--file", file, setting, "evil")
		cmd.Dir = h.Dir
		require.NoError(t, cmd.Run())
	}
	configure(os.Getenv("HOME")+"/.gitconfig", "filter.own.clean")
	status := func() *sdktest.Result {
		return h.Call(t.Context(), "shell_read", fields{"command": "cd src && git status"})
	}
	require.Nil(t, status().Err, "the user's own filters are the user's")
	for _, setting := range []string{"filter.theirs.clean", "lfs.extension.theirs.clean", "hook.theirs.command"} {
		configure(".git/config", setting)
		r := status()
		require.NotNil(t, r.Err, setting)
		require.Equal(t, denied, r.Err.GetCategory())
		require.Contains(t, r.Err.GetMessage(), setting)
		require.NotContains(t, r.Err.GetMessage(), "filter.own.clean")
		require.NoError(t, exec.Command("git", "-C", h.Dir, "config", "--unset", setting).Run())
	}
	require.Nil(t, h.Call(t.Context(), "shell_read", fields{"command": "ls"}).Err)
	// A home that commands may change is not the user's alone.
	t.Setenv("HOME", h.Dir)
	configure(".gitconfig", "filter.planted.clean")
	r := startIn(t, h.Dir, nil).Call(t.Context(), "shell_read", fields{"command": "git status"})
	require.Contains(t, r.Err.GetMessage(), "filter.planted.clean")
	t.Setenv("HOME", "/nonexistent")
	r = startIn(t, h.Dir, fields{"env": fields{"HOME": h.Dir}}).Call(t.Context(), "shell_read", fields{"command": "git status"})
	require.Contains(t, r.Err.GetMessage(), "filter.planted.clean")
}

// read_commands opens the door; the sandbox behind it stays, where the system has one.
func TestShellReadSandbox(t *testing.T) {
	policy, err := sandbox.Confine()
	require.NoError(t, err)
	if err := policy.Available(); err != nil {
		t.Skip(err)
	}
	h := start(t, fields{"read_commands": []any{"touch"}})
	r := h.Call(t.Context(), "shell_read", fields{"command": "touch x"})
	require.Nil(t, r.Err)
	require.Contains(t, r.Stderr, "Permission denied")
	require.NoFileExists(t, filepath.Join(h.Dir, "x"))
	require.Nil(t, bashCall(t, h, fields{"command": "touch x"}).Err)
	require.FileExists(t, filepath.Join(h.Dir, "x"), "bash is not confined by it")
}
