//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Ctrl-C while the providers start is no error of theirs.
func TestInterruptedStart(t *testing.T) {
	for name, args := range map[string][]string{
		"tools":  {"tools"},
		"invoke": {"invoke", "bash.bash", "--yes", "command=true"},
		"json":   {"run", "/changelog", "--json"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := agentIn(t, "", args...)
			home := filepath.Dir(cmd.Dir)
			slow, started := filepath.Join(home, "slow"), filepath.Join(home, "started")
			require.NoError(t, os.WriteFile(slow, []byte("#!/bin/sh\ntouch "+started+"\nexec sleep 1000\n"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(home, "config/agent/config.hcl"), []byte("dev_overrides {\n  bash = "+strconv.Quote(slow)+"\n}\n"), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, "agent.hcl"), []byte("required_providers {\n  bash = { source = \"github.com/o/r\" }\n}\n"), 0o644))
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			require.NoError(t, cmd.Start())
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			require.Eventually(t, func() bool { _, err := os.Stat(started); return err == nil }, time.Minute, 10*time.Millisecond)
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
			_ = cmd.Wait()
			require.Equal(t, 130, cmd.ProcessState.ExitCode())
			if name == "json" {
				require.Regexp(t, `^\{"outcome":\{"status":"cancelled",.*\}\n$`, stdout.String())
				return
			}
			require.Contains(t, stderr.String(), "\ncancelled: nothing was called\n")
			require.NotContains(t, stderr.String(), "error")
		})
	}
}

// What a call is to be made of may come from a pipe, and its writer never.
func TestInterruptedRead(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		for name, args := range map[string][]string{
			"arguments":      {"invoke", "filesystem.read_file", "--args", "@pipe"},
			"of an /command": {"run", "/changelog", "--args", "@pipe"},
			"calls":          {"apply", "pipe"},
			"calls to plan":  {"plan", "pipe", "--json"},
		} {
			t.Run(sig.String()+" "+name, func(t *testing.T) {
				cmd := agentIn(t, "", args...)
				pipe := filepath.Join(cmd.Dir, "pipe")
				require.NoError(t, syscall.Mkfifo(pipe, 0o600))
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				require.NoError(t, cmd.Start())
				t.Cleanup(func() { _ = cmd.Process.Kill() })
				writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the one who reads
				require.NoError(t, err)
				defer writer.Close()
				require.NoError(t, cmd.Process.Signal(sig))
				_ = cmd.Wait()
				require.Equal(t, 130, cmd.ProcessState.ExitCode(), stderr.String())
			})
		}
	}
}
