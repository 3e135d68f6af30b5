package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A session shows the arguments that ran, and, named as such, those that were asked for before a person changed them.
func TestSessionOfChangedArguments(t *testing.T) {
	dir := projectDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "editor"), []byte("#!/bin/sh\nsed -i s/hello/changed/ \"$1\"\n"), 0o755))
	p := startOnTerminal(t, dir, "VISUAL=./editor exec agent invoke filesystem.write_file path=new.txt content=hello")
	play(t, p, []string{"Go ahead? [y/N] ", "e\n", "+changed", "", "Go ahead? [y/N] ", "y\n"})
	require.Equal(t, 0, p.exitCode(t), p.screen())
	look := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "agent", append([]string{"session"}, args...)...)
		cmd.Dir, cmd.Env = dir, p.cmd.Env
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	var shown struct {
		Calls []struct {
			Arguments map[string]string `json:"arguments"`
			Requested map[string]string `json:"requested_arguments"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(look("show", "last", "--json")), &shown))
	require.Len(t, shown.Calls, 1)
	require.Equal(t, map[string]string{"path": "new.txt", "content": "changed"}, shown.Calls[0].Arguments)
	require.Equal(t, map[string]string{"path": "new.txt", "content": "hello"}, shown.Calls[0].Requested)
	replayed := look("replay", "last")
	require.Regexp(t, `(?m)^▸ filesystem.write_file \S+ content=changed path=new.txt$`, replayed)
	require.Regexp(t, `(?m)^asked for with content=hello path=new.txt$`, replayed)
	require.Contains(t, look("export", "last", "--format", "cast"), `--args '{\"content\":\"changed\",\"path\":\"new.txt\"}'`)
	require.Contains(t, look("export", "last", "--format", "markdown"), "**Asked for with**")
}

// A call whose beginning was damaged is shown as far as the rest of the log tells of it.
func TestSessionWithoutABeginning(t *testing.T) {
	cmd := agentIn(t, "", "invoke", "bash.bash", "--yes", "command=echo done")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	files, err := filepath.Glob(filepath.Join(filepath.Dir(cmd.Dir), "state", "agent", "sessions", "*.sqlite"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	content, err := os.ReadFile(files[0])
	require.NoError(t, err)
	damaged := 0
	for at := 5; at < len(content)-3; at++ { // the message of a call stands in that of its event, and begins with its id
		if bytes.HasPrefix(content[at:], []byte("tc_")) && content[at-2] == 0x0a && content[at-5] == 0x0a {
			copy(content[at-5:at], make([]byte, 5))
			damaged++
		}
	}
	require.NotZero(t, damaged)
	require.NoError(t, os.WriteFile(files[0], content, 0o600))
	look := func(args ...string) string {
		again := agentIn(t, "", append([]string{"session"}, args...)...)
		again.Dir, again.Env = cmd.Dir, cmd.Env
		out, err := again.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	require.Regexp(t, `1 +- +\S+ +completed +bash\.bash +--yes +the log has lost the beginning of tc_\S+`, look("show", "last"))
	require.Regexp(t, `"call_id":"tc_[^"]+".*"operation":"bash\.bash","status":"completed"`, look("show", "last", "--json"))
	require.NotContains(t, look("show", "last", "--json"), "began_at")
	require.Regexp(t, `(?s)▸ bash\.bash - command=echo done\nthe log has lost the beginning of tc_\S+\n.*done`, look("replay", "last"))
	require.Contains(t, look("export", "last", "--format", "markdown"), "the log has lost the beginning of")
}
