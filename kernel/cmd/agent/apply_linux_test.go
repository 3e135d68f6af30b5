package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const threeWrites = `call "first" {
  operation = "filesystem.write_file"
  arguments = { path = "docs/a.txt", content = "one" }
}
call "second" {
  operation = "filesystem.write_file"
  arguments = { path = "docs/b.txt", content = "two" }
}
call "third" {
  operation = "filesystem.write_file"
  arguments = { path = "c.txt", content = "three" }
}
`

// play answers a person's questions: pairs of what to wait for, behind what was waited for before, and what to type then.
func play(t *testing.T, p *onTerminal, steps []string) {
	t.Helper()
	seen := 0
	for i := 0; i+1 < len(steps); i += 2 {
		seen = p.waitBehind(t, seen, steps[i])
		p.write(t, steps[i+1])
	}
}

// waitBehind waits for a text behind a place of the screen, and returns where it ends.
func (p *onTerminal) waitBehind(t *testing.T, from int, text string) int {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		screen := p.screen()
		if at := strings.Index(screen[min(from, len(screen)):], text); at >= 0 {
			return from + at + len(text)
		}
		select {
		case _, open := <-p.changed:
			require.True(t, open || strings.Contains(p.screen()[min(from, len(p.screen())):], text), "%q was not shown:\n%s", text, p.screen())
		case <-deadline:
			require.Fail(t, "not shown in time", "%q, but:\n%s", text, p.screen())
		}
	}
}

func written(dir string, names ...string) (there []string) {
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			there = append(there, name)
		}
	}
	return there
}

// TestApplyAtATerminal plays a person who is shown all of a plan and decides about it item by item.
func TestApplyAtATerminal(t *testing.T) {
	const one, two, three = "1/3 first · filesystem.write_file\n", "2/3 second · filesystem.write_file\n", "3/3 third · filesystem.write_file\n"
	const ask = "Go ahead? [y/N] "
	tests := []struct {
		name  string
		steps []string
		want  []string
		exit  int
		files []string
	}{
		{"each by itself", []string{one, "", ask, "y\n", two, "", ask, "n\n", three, "", ask, "y\n"}, []string{"+one", "+two", "+three", "denied: second: ", "3 calls: 2 done, 1 denied"}, 3, []string{"docs/a.txt", "c.txt"}},
		{"shown again", []string{one, "", ask, "y\n", two, "", ask, "v\n", "+two\n", "", ask, "n\n", three, "", ask, "n\n"}, []string{"3 calls: 1 done, 2 denied"}, 3, []string{"docs/a.txt"}},
		{"all", []string{one, "", ask, "all\n"}, []string{"2/3 second · person, to all", "3 calls: 3 done"}, 0, []string{"docs/a.txt", "docs/b.txt", "c.txt"}},
		{"the rest", []string{one, "", ask, "n\n", two, "", ask, "all\n"}, []string{"3/3 third · person, to all", "3 calls: 2 done, 1 denied"}, 3, []string{"docs/b.txt", "c.txt"}},
		{"none of the rest", []string{one, "", ask, "y\n", two, "", ask, "none\n"}, []string{"3 calls: 1 done, 2 denied"}, 3, []string{"docs/a.txt"}},
		{"for the session", []string{one, "", ask, "s\n", three, "", ask, "n\n"},
			[]string{"s: yes, and in this session also filesystem.write_file path=docs/*\n", "2/3 second · granted for this session: filesystem.write_file path=docs/*\n", "3 calls: 2 done, 1 denied"},
			3, []string{"docs/a.txt", "docs/b.txt"}},
		{"changed, and asked about at once", []string{one, "", ask, "e\n", "(Enter leaves them): ", `{"path": "docs/d.txt", "content": "changed"}` + "\n", "1/3 first · filesystem.write_file · risk moderate\n", "", "+changed\n", "",
			one, "", ask, "v\n", "+changed\n", "", one, "", ask, "y\n", two, "", ask, "n\n", three, "", ask, "none\n"}, []string{"3 calls: 1 done, 2 denied"}, 3, []string{"docs/d.txt"}},
		{"end of input", []string{one, "", ask, "y\n", two, "", ask, "\x04", three, "", ask, "\x04"}, []string{"3 calls: 1 done, 2 denied"}, 3, []string{"docs/a.txt"}}, // K28
		{"Ctrl-C at a question", []string{one, "", ask, "y\n", two, "", ask, "\x03"}, []string{"3 calls: 3 cancelled"}, 130, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := projectDir(t)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "calls.hcl"), []byte(threeWrites), 0o644))
			require.NoError(t, os.Mkdir(filepath.Join(dir, "docs"), 0o755))
			p := startOnTerminal(t, dir, "VISUAL= EDITOR= TERM=dumb exec agent apply calls.hcl")
			play(t, p, tt.steps)
			require.Equal(t, tt.exit, p.exitCode(t), p.screen())
			for _, want := range tt.want {
				require.Contains(t, p.screen(), want)
			}
			require.Equal(t, tt.files, written(dir, "docs/a.txt", "docs/b.txt", "c.txt", "docs/d.txt"))
			shown := strings.Index(p.screen(), "+three")
			require.Positive(t, shown)
			require.Less(t, shown, strings.Index(p.screen(), "Go ahead?"), "all of it is shown before anything is asked")
		})
	}
}

// Arguments that were changed are checked, shown and asked about again, with an editor, with the one of a simple terminal,
// and on a line where there is none.
func TestChangeTheArguments(t *testing.T) {
	const onlyAgent = `EDITOR= PATH="$(dirname "$(command -v agent)")"` // and no vi
	const ask, bad = "Go ahead? [y/N] ", `"contents" is not known (did you mean "content"?)`
	tests := []struct {
		name   string
		env    string
		editor string // a script; what it is given is $1
		steps  []string
		want   []string
		exit   int
		file   string
	}{
		{"in an editor", "VISUAL=./editor EDITOR=false", `sed -i s/hello/changed/ "$1"`, []string{ask, "e\n", "+changed", "", ask, "y\n"}, []string{"created new.txt"}, 0, "changed"},
		{"with words of its own", "EDITOR='sed -i \"s/hello/two words/\"'", "", []string{ask, "edit\n", "+two words", "", ask, "y\n"}, nil, 0, "two words"},
		{"and then not", "EDITOR=./editor", `sed -i s/hello/changed/ "$1"`, []string{ask, "e\n", "+changed", "", ask, "n\n"}, []string{"denied"}, 3, ""},
		{"nothing", "EDITOR=true", "", []string{ask, "e\n", "the arguments are as they were", "", ask, "y\n"}, nil, 0, "hello"},
		{"an editor that fails", "EDITOR=false", "", []string{ask, "e\n", "error: the editor false failed, nothing is changed", "", ask, "y\n"}, nil, 0, "hello"},
		{"what does not fit, and then does", "EDITOR=./editor", `grep -q contents "$1" && sed -i 's/contents/content/; s/hello/right/' "$1" || sed -i s/content/contents/ "$1"`,
			[]string{ask, "e\n", bad, "", ask, "e\n", "+right", "", ask, "y\n"}, nil, 0, "right"},
		{"what is no JSON", "EDITOR=./editor", `echo '{' > "$1"`, []string{ask, "e\n", "error: that is not a JSON object", "", ask, "y\n"}, nil, 0, "hello"},
		{"what the provider refuses", "EDITOR=./editor", `sed -i 's#new.txt#/etc/new.txt#' "$1"`, []string{ask, "e\n", "error: ", "", ask, "n\n"}, []string{"denied"}, 3, ""},
		{"on a line", "TERM=dumb VISUAL=./editor EDITOR=", "", []string{ask, "e\n", "Arguments as JSON (Enter leaves them): ", `{"path": "new.txt", "content": "typed"}` + "\n", "+typed", "", ask, "y\n"},
			[]string{`{"content":"hello","path":"new.txt"}`}, 0, "typed"},
		{"where they stand", onlyAgent, "", []string{ask, "e\n", `Arguments: {"content":"hello","path":"new.txt"}`, "\x01\x1bf\x1bfX\r", "+helloX", "", ask, "y\n"}, nil, 0, "helloX"},
		{"and give that up", onlyAgent, "", []string{ask, "e\n", `"new.txt"}`, "gone\x03", "as they were", "", ask, "y\n"}, nil, 0, "hello"},
		{"and leave them", "TERM=dumb EDITOR=", "", []string{ask, "e\n", "(Enter leaves them): ", "\n", "as they were", "", ask, "y\n"}, nil, 0, "hello"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := projectDir(t)
			if tt.editor != "" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "editor"), []byte("#!/bin/sh\n"+tt.editor+"\n"), 0o755))
			}
			p := startOnTerminal(t, dir, "VISUAL= "+tt.env+" exec agent invoke filesystem.write_file path=new.txt content=hello")
			play(t, p, tt.steps)
			require.Equal(t, tt.exit, p.exitCode(t), p.screen())
			for _, want := range tt.want {
				require.Contains(t, p.screen(), want)
			}
			content, err := os.ReadFile(filepath.Join(dir, "new.txt"))
			require.Equal(t, tt.file != "", err == nil)
			require.Equal(t, tt.file, string(content))
		})
	}
}

// The editor has the terminal for itself: what an allowed call prints meanwhile comes afterwards, all of it.
func TestEditorHasTheTerminal(t *testing.T) {
	dir := projectDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "calls.hcl"), []byte(`call "loud" {
  operation = "bash.bash"
  arguments = { command = "while [ ! -e edited ]; do sleep 0.05; done; i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo line $i; done; touch printed; sleep 0.2" }
}
call "write" {
  operation = "filesystem.write_file"
  arguments = { path = "new.txt", content = "hello" }
  after     = []
}
`), 0o644))
	f, err := os.OpenFile(filepath.Join(dir, "agent.hcl"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("policy \"loud\" {\n  match  = { provider = \"bash\" }\n  action = \"allow\"\n}\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "editor"), []byte(`#!/bin/sh
echo BEGIN; touch edited; while [ ! -e printed ]; do sleep 0.05; done; sed -i s/hello/changed/ "$1"; echo END
`), 0o755))
	p := startOnTerminal(t, dir, "VISUAL=./editor exec agent apply calls.hcl")
	play(t, p, []string{"Go ahead? [y/N] ", "e\n", "+changed", "", "Go ahead? [y/N] ", "y\n"})
	require.Equal(t, 0, p.exitCode(t), p.screen())
	begin, end := strings.Index(p.screen(), "BEGIN"), strings.Index(p.screen(), "END")
	require.Positive(t, begin)
	require.NotContains(t, p.screen()[begin:end], "line", "while it edits")
	require.Contains(t, p.screen()[end:], "loud │ line 1\n")
	require.Contains(t, p.screen()[end:], "loud │ line 300\n")
	require.Contains(t, p.screen(), "2 calls: 2 done")
}

// Ctrl-C in an editor is for the editor.
func TestInterruptInTheEditor(t *testing.T) {
	dir := projectDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "editor"), []byte(`#!/bin/sh
trap 'sed -i s/hello/changed/ "$1"; exit 0' INT
echo BEGIN; while :; do sleep 0.05; done
`), 0o755))
	p := startOnTerminal(t, dir, "VISUAL=./editor exec agent invoke filesystem.write_file path=new.txt content=hello")
	play(t, p, []string{"Go ahead? [y/N] ", "e\n", "BEGIN", "\x03", "+changed", "", "Go ahead? [y/N] ", "y\n"})
	require.Equal(t, 0, p.exitCode(t), p.screen())
	require.NotContains(t, p.screen(), "cancel")
	content, err := os.ReadFile(filepath.Join(dir, "new.txt"))
	require.NoError(t, err)
	require.Equal(t, "changed", string(content))
}

// K26: Ctrl-C cancels what runs and starts nothing new; what had run, is running and did not is told.
func TestCtrlCInAList(t *testing.T) {
	dir := projectDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "calls.hcl"), []byte(`call "quick" {
  operation = "filesystem.write_file"
  arguments = { path = "quick.txt", content = "" }
}
call "slow" {
  operation = "bash.bash"
  arguments = { command = "echo started; sleep 60" }
}
call "never" {
  operation = "filesystem.write_file"
  arguments = { path = "never.txt", content = "" }
}
`), 0o644))
	p := startOnTerminal(t, dir, "exec agent apply calls.hcl --yes")
	play(t, p, []string{"slow │ started", "\x03"})
	require.Equal(t, 130, p.exitCode(t), p.screen())
	require.Contains(t, p.screen(), "cancelled: slow: process received SIGTERM")
	require.Contains(t, p.screen(), "cancelled: never: ")
	require.Contains(t, p.screen(), "3 calls: 1 done, 2 cancelled")
	require.Equal(t, []string{"quick.txt"}, written(dir, "quick.txt", "never.txt"))
}

// K29: a kernel that is killed in the middle of a plan leaves a record of what had run, and the plan is not applied again.
func TestKilledInAPlan(t *testing.T) {
	cmd := agentIn(t, "", "plan", "calls.hcl", "--out", "p.json")
	state := t.TempDir()
	cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+state)
	require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, "calls.hcl"), []byte(`call "quick" {
  operation = "filesystem.write_file"
  arguments = { path = "quick.txt", content = "" }
}
call "slow" {
  operation = "bash.bash"
  arguments = { command = "touch started; sleep 60" }
}
call "never" {
  operation = "bash.bash"
  arguments = { command = "touch never" }
}
`), 0o644))
	require.NoError(t, cmd.Run())
	again := func() *exec.Cmd {
		next := exec.Command(cmd.Path, "apply", "p.json")
		next.Dir, next.Env = cmd.Dir, cmd.Env
		return next
	}
	killed := again()
	require.NoError(t, killed.Start())
	t.Cleanup(func() { _ = killed.Process.Kill() })
	require.Eventually(t, func() bool { return len(written(cmd.Dir, "started")) == 1 }, time.Minute, 10*time.Millisecond)
	other, err := again().CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(other), "already-applied: another process is applying this plan now")
	require.NoError(t, killed.Process.Kill())
	_ = killed.Wait()
	out, err := again().CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "(quick: completed; slow: had begun, nobody saw its end) and cut off then; other calls of it did not run")
	require.Empty(t, written(cmd.Dir, "never"))
}
