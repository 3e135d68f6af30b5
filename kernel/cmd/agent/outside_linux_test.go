package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A terminal that is closed ends a call in order, as SIGTERM does.
func TestHangUpCancels(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("these tests run under nohup, and what they start does not hear that a terminal is closed")
	}
	const mark = "TestHangUpCancels"
	cmd := agentIn(t, mark, "invoke", "bash.bash", "--yes", "--json", "command=echo up; sleep 1000")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	var last []byte
	for lines := bufio.NewScanner(out); lines.Scan(); {
		last = bytes.Clone(lines.Bytes())
		if bytes.Contains(last, []byte(`"output_chunk"`)) && bytes.Contains(last, []byte("dXA")) {
			require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
		}
	}
	_ = cmd.Wait()
	require.Equal(t, 130, cmd.ProcessState.ExitCode())
	var line struct{ Outcome struct{ Status string } }
	require.NoError(t, json.Unmarshal(last, &line))
	require.Equal(t, "cancelled", line.Outcome.Status)
	require.Empty(t, commands(mark))
}

// That the kernel lives without SIGPIPE is no reason for its children to.
func TestProvidersHaveTheirSIGPIPE(t *testing.T) {
	cmd := agentIn(t, "", "validate")
	home := filepath.Dir(cmd.Dir)
	fake := filepath.Join(home, "provider")
	require.NoError(t, os.WriteFile(fake, []byte("#!/bin/sh\ngrep SigIgn /proc/self/status >&2\nexit 1\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(home, "config/agent/config.hcl"), []byte("dev_overrides {\n  bash = "+strconv.Quote(fake)+"\n}\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, "agent.hcl"), []byte("required_providers {\n  bash = { source = \"github.com/o/r\" }\n}\n"), 0o644))
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	found := regexp.MustCompile(`SigIgn:\s*([0-9a-f]+)`).FindSubmatch(out)
	require.NotNil(t, found, "%s", out)
	ignored, err := strconv.ParseUint(string(found[1]), 16, 64)
	require.NoError(t, err)
	require.Zero(t, ignored&(1<<(syscall.SIGPIPE-1)))
}

// When stdout takes nothing, a program that reads JSON learns it from the exit code, a person from stderr.
func TestFullStdoutIsSaid(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	for _, args := range [][]string{
		{"tools", "--json"},
		{"tools"},
		{"invoke", "filesystem.read_file", "path=agent.hcl", "--json"},
	} {
		t.Run(args[0]+args[len(args)-1], func(t *testing.T) {
			cmd := agentIn(t, "", args...)
			var stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = full, &stderr
			require.Error(t, cmd.Run())
			require.Equal(t, 1, cmd.ProcessState.ExitCode())
			require.Contains(t, stderr.String(), "error: cannot write the output: ")
		})
	}
}
