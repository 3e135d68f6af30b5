package conformance_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/conformance"
)

func nodeConformance(t *testing.T, path string) {
	report, err := conformance.Check(t.Context(), []string{path}, conformance.Options{
		Scenario: filepath.Join(filepath.Dir(path), "conformance.hcl"), Stderr: t.Output(), Timeout: busy,
	})
	require.NoError(t, err)
	for _, row := range report.Rows {
		require.Contains(t, []conformance.Verdict{conformance.Pass, conformance.Skipped}, row.Verdict, "%s: %s", row.ID, row.Seen)
	}
}

func nodeUnderAgent(t *testing.T, path string) {
	dir := t.TempDir()
	agent := filepath.Join(dir, "agent")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", agent, ".")
	build.Dir = "../kernel/cmd/agent"
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	writeNotes(t, dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "agent.hcl"), []byte(`
required_providers {
  notebook = { source = "github.com/agentco/agent//provider-notebook" }
}
provider "notebook" {
  folder   = "notes"
  seal_key = env("SEAL_KEY")
}
`), 0o644))
	config := filepath.Join(dir, "config")
	require.NoError(t, os.MkdirAll(filepath.Join(config, "agent"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(config, "agent", "config.hcl"),
		[]byte("dev_overrides {\n  notebook = \""+path+"\"\n}\n"), 0o644))
	run := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), agent, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+config, "SEAL_KEY="+nodeSecret)
		return cmd
	}
	text := func(args ...string) string {
		out, err := run(args...).Output()
		require.NoError(t, err, "agent %v", args)
		return string(out)
	}
	require.Contains(t, text("providers"), "tool, slashcommand")
	require.Contains(t, text("invoke", "notebook.list_notes"), "one.md")
	edit, err := run("--log-level", "info", "invoke", "notebook.edit_note", "name=one.md", "old_text=hello", "new_text=hi", "--yes").CombinedOutput()
	require.NoError(t, err, "%s", edit)
	require.Contains(t, string(edit), "changed one.md at line 3")
	require.Contains(t, string(edit), "msg=edited provider=notebook", "log entries go over the callback channel")
	require.Contains(t, text("run", "/outline", "name=one.md"), "Inner")
	nodeInterrupt(t, run("invoke", "notebook.run", "command=echo up; sleep 1000", "--yes", "--json"))
}

// nodeInterrupt is a Ctrl-C: the report of the provider is the outcome.
func nodeInterrupt(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(stdout)
	up := base64.StdEncoding.EncodeToString([]byte("up\n"))
	var line string
	for lines.Scan() {
		if line = lines.Text(); strings.Contains(line, up) {
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
		}
	}
	err = cmd.Wait()
	require.EqualValues(t, 130, cmd.ProcessState.ExitCode(), "%v", err)
	var end struct {
		Outcome struct {
			Status string
			Report struct{ Note string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(line), &end), line)
	require.Equal(t, "cancelled", end.Outcome.Status)
	require.Equal(t, "the command was ended by SIGTERM after it had printed 3 bytes", end.Outcome.Report.Note)
}
