//go:build unix

package policy

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pieces are what scripts are made of that shells have read otherwise than their parser.
var pieces = []string{
	"ok", "sub", "d/", "other", " ", " ", " ", "\n", ";", "&", "|", "&&", "||", "!", "#", "'", `"`, `\`, "\\\n", "\\\n", "$", "$'", `$"`, "`", "(", ")", "{", "}",
	"{}", ",", "..", "{a,b}", "<", ">", "<<", "2>", "&1", "/dev/null", "[", "]", "*", "?", "~", "=", "x=", "@(", "-", "$((", "))", "<(", "$[", "${", "\t", "EOF",
	"(other)", "`other`", "ok sub ", `"$`, "time ", "[[", "in", "then", "done", "é",
}

// What is certain to be a pattern's commands, real shells run as nothing else.
func TestShellsReadScriptsAsWeDo(t *testing.T) {
	shells := slices.DeleteFunc([]string{"bash", "dash"}, func(name string) bool { _, err := exec.LookPath(name); return err != nil })
	if len(shells) == 0 {
		t.Skip("there is neither bash nor dash")
	}
	programs, work := t.TempDir(), t.TempDir()
	log := filepath.Join(programs, "log")
	program := "#!/bin/sh\n{ printf %s \"${0##*/}\"; for word in \"$@\"; do printf '\\001%s' \"$word\"; done; printf '\\002'; } >>" + log + "\n"
	for _, name := range []string{"ok", "other", "sub", "a", "b", "x"} {
		require.NoError(t, os.WriteFile(filepath.Join(programs, name), []byte(program), 0o700))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(work, "d", "ab"), 0o700))
	pattern, err := ParseCommand("ok sub *")
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	scripts := []string{"ok sub \"$\\\n(other)\"", "ok sub {},b}", "ok sub \\\n#$(other)", "ok sub d/a{},/../../b}", "ok sub #\\\nother"}
	for range 20_000 {
		script := "ok sub "
		for range 1 + random.IntN(8) {
			script += pieces[random.IntN(len(pieces))]
		}
		scripts = append(scripts, script)
	}
	ran := 0
	for _, script := range scripts {
		if sure, _ := surelyCovered([]Command{pattern}, readScript(script)); !sure || strings.Contains(script, "|") { // side by side they would log over each other
			continue
		}
		if ran++; ran > 200 {
			break
		}
		for _, shell := range shells {
			for _, words := range run(t, shell, script, programs, work) {
				require.GreaterOrEqual(t, len(words), 2, "%s: %q", shell, script)
				require.Equal(t, []string{"ok", "sub"}, words[:2], "%s: %q", shell, script)
			}
			left, err := os.ReadDir(work)
			require.NoError(t, err)
			require.Len(t, left, 1, "%s: %q wrote a file", shell, script)
		}
	}
	require.Greater(t, ran, 100, "the rest shows nothing")
}

// run has a shell run a script, and returns what that ran.
func run(t *testing.T, shell, script, programs, work string) (commands [][]string) {
	t.Helper()
	path, err := exec.LookPath(shell)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-c", script)
	cmd.Dir, cmd.Env = work, []string{"PATH=" + programs, "HOME=/home"}
	_ = cmd.Run() // that it fails is as good
	log := filepath.Join(programs, "log")
	text, err := os.ReadFile(log)
	if err != nil {
		return nil
	}
	require.NoError(t, os.Remove(log))
	for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\x02"), "\x02") {
		commands = append(commands, strings.Split(line, "\x01"))
	}
	return commands
}
