package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/host/hosttest"
)

// TestMCPClients holds the server to the clients that people have: the official SDK for TypeScript and the Inspector's
// command line, as testdata/mcp-clients pins them. It is skipped where Node or its packages are not to be had.
func TestMCPClients(t *testing.T) {
	clients := installClients(t)
	for _, name := range []string{"sdk.test.js", "inspector.test.js"} {
		t.Run(name, func(t *testing.T) {
			cmd := agentWithFixture(t)
			node := exec.CommandContext(t.Context(), "node", "--test", "--test-timeout=120000", filepath.Join(clients, name))
			node.Cancel = func() error { return node.Process.Signal(os.Interrupt) } // which ends the servers too
			node.WaitDelay = 10 * time.Second
			node.Dir, node.Env = cmd.Dir, append(cmd.Env, "AGENT="+cmd.Path)
			out, err := node.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Regexp(t, `(?m)^# pass [1-9]`, string(out))
			t.Logf("%s", regexp.MustCompile(`(?m)^# .*\n`).FindAllString(string(out), -1))
		})
	}
}

// agentWithFixture is agent in a project that also has the provider which prints and crashes as it is told.
func agentWithFixture(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := agentIn(t, "")
	edit(t, filepath.Join(cmd.Dir, "agent.hcl"), "required_providers {\n", "required_providers {\n  fixture = { source = \"github.com/agentco/agent//provider-fixture\" }\n")
	edit(t, filepath.Join(cmd.Dir, "../config/agent/config.hcl"), "dev_overrides {\n", "dev_overrides {\n  fixture = \""+hosttest.Path()+"\"\n")
	return cmd
}

func edit(t *testing.T, path, from, to string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Contains(text, []byte(from)), "%s", text)
	require.NoError(t, os.WriteFile(path, bytes.Replace(text, []byte(from), []byte(to), 1), 0o644))
}

// offline is what npm says when it cannot reach its registry.
var offline = regexp.MustCompile(`\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|E403|E5\d\d)\b`)

// installClients copies the clients and installs their packages there, as they are locked.
func installClients(t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s on this machine, which the clients of testdata/mcp-clients need", tool)
		}
	}
	dir := t.TempDir()
	files, err := filepath.Glob("testdata/mcp-clients/*.js*")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o644))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=0")
	npm.Dir = dir
	out, err := npm.CombinedOutput()
	if err != nil && (offline.Match(out) || ctx.Err() != nil) {
		t.Skipf("the packages of testdata/mcp-clients cannot be installed here: %v\n%s", err, strings.TrimSpace(string(out)))
	}
	require.NoError(t, err, "npm ci: %s", out)
	return dir
}
