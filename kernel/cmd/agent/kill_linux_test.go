package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// left names the living processes that a kernel with that mark has to answer for: commands by the mark in their
// environment, providers and their keepers by the binary.
func left(mark string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, file := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		exe, _ := os.Readlink(file)
		if marked(pid, mark) || strings.HasPrefix(exe, binaries+"/") || strings.HasPrefix(commandLine(pid), kernelsKeeper+" "+binaries+"/") {
			found = append(found, strconv.Itoa(pid)+" "+exe)
		}
	}
	return found
}

// commands are the living processes of commands of a kernel with that mark.
func commands(mark string) (found []int) {
	files, _ := filepath.Glob("/proc/[0-9]*")
	for _, file := range files {
		if pid, _ := strconv.Atoi(filepath.Base(file)); marked(pid, mark) {
			found = append(found, pid)
		}
	}
	return found
}

// marked reports whether a process lives and is a command of a kernel with that mark, or was started by one.
func marked(pid int, mark string) bool {
	environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return bytes.Contains(environ, []byte("AGENT_TEST_MARK="+mark+"\x00"))
}

// What keepers call themselves: those of providers, and those of commands.
const kernelsKeeper, commandsKeeper = "provider keeper", "provider-bash: keeper"

// commandLine is that of a process, with blanks between its words.
func commandLine(pid int) string {
	words, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(bytes.ReplaceAll(words, []byte{0}, []byte{' '}))
}

// requireNothingLeft waits until nothing is left. Five seconds are promised, and mostly it takes one; a machine under load is
// given more before a test fails.
func requireNothingLeft(t *testing.T, mark string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(left(mark)) == 0 }, time.Minute, 10*time.Millisecond, "%v", left(mark))
}

// A kernel that is killed can do nothing any more; its providers must see to it that nothing is left, whatever a
// command has started and however it tried to get away.
func TestKilledKernelLeavesNothing(t *testing.T) {
	for name, command := range map[string]string{
		"a command that waits":      "echo up; sleep 1000",
		"children of every kind":    "(setsid sleep 1000 &); nohup sleep 1000 & (setsid sh -c 'sleep 1000 & exit' &); echo up; sleep 1000",
		"one that ignores the TERM": "trap '' TERM; echo up; while :; do sleep 1; done",
	} {
		t.Run(name, func(t *testing.T) {
			mark := strings.ReplaceAll(t.Name(), " ", "-")
			cmd := agentIn(t, mark, "invoke", "bash.bash", "--yes", "command="+command)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			line := make([]byte, 3)
			_, err = io.ReadFull(out, line)
			require.NoError(t, err)
			require.Equal(t, "up\n", string(line))
			require.NotEmpty(t, left(mark))

			killed := time.Now()
			require.NoError(t, cmd.Process.Kill())
			_ = cmd.Wait()
			requireNothingLeft(t, mark)
			t.Logf("nothing was left after %v", time.Since(killed).Round(time.Millisecond))
		})
	}
}
