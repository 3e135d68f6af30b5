package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/session"
	"github.com/agentco/agent/kernel/internal/session/history"
)

// reported is a call that the kernel has said to be over.
type reported struct {
	ID     string `json:"call_id"`
	Status string `json:"status"`
}

// killedAfter runs a shell that makes calls until it is killed after so many outcomes, and returns those and the session.
func killedAfter(t *testing.T, outcomes int) (said []reported, folder string) {
	t.Helper()
	cmd := agentIn(t, t.Name(), "shell", "--yes", "--json")
	folder = filepath.Join(filepath.Dir(cmd.Dir), "state", "agent", "sessions")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	go func() {
		for i := 0; ; i++ { // until the pipe breaks
			if _, err := fmt.Fprintf(in, "filesystem.write_file path=f%d content=%d\nfilesystem.list_directory path=.\n", i%10, i); err != nil {
				return
			}
		}
	}()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ Outcome *reported }
		if json.Unmarshal(lines.Bytes(), &line) != nil || line.Outcome == nil {
			continue
		}
		said = append(said, *line.Outcome)
		if len(said) == outcomes {
			require.NoError(t, cmd.Process.Kill())
		}
	}
	_ = in.Close()
	require.Error(t, cmd.Wait())
	return said, folder
}

// What the kernel has said of a call outlives its own SIGKILL, at any moment of its work.
func TestKilledKernelLosesNoOutcome(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for round := range rounds {
		said, folder := killedAfter(t, 1+round*5)
		require.NotEmpty(t, said)
		files, err := filepath.Glob(filepath.Join(folder, "*.sqlite"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		v, err := session.Verify(t.Context(), files[0])
		require.NoError(t, err)
		require.Empty(t, v.Problems)
		f, err := session.Open(t.Context(), files[0])
		require.NoError(t, err)
		require.Nil(t, f.Salvage)
		require.Equal(t, session.Interrupted, f.Meta().Status)
		calls, err := history.Calls(t.Context(), f)
		require.NoError(t, err)
		f.Close()
		kept := map[string]string{}
		for _, c := range calls {
			kept[c.ID] = c.Status
		}
		for _, s := range said {
			require.Equal(t, s.Status, kept[s.ID], "call %s", s.ID)
		}
		// The other way about: no file was written by a call that the log does not know.
		writes := 0
		for _, c := range calls {
			if c.Tool == "write_file" {
				writes++
			}
		}
		written, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(folder))), "project", "f*"))
		require.NoError(t, err)
		require.LessOrEqual(t, len(written), writes)
	}
}

// K34: a replay shows what happened, with the provider there and able, and does none of it again.
func TestReplayDoesNothing(t *testing.T) {
	cmd := agentIn(t, "", "invoke", "bash.bash", "--yes", "command=echo once >> made; echo done")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	made := filepath.Join(cmd.Dir, "made")
	before, err := os.Stat(made)
	require.NoError(t, err)
	for _, args := range [][]string{{"session", "replay", "last"}, {"session", "replay", "last", "--json"}, {"session", "show", "last"}} {
		again := agentIn(t, "", args...)
		again.Dir, again.Env = cmd.Dir, cmd.Env
		out, err := again.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "bash.bash")
	}
	after, err := os.Stat(made)
	require.NoError(t, err)
	require.Equal(t, before.ModTime(), after.ModTime())
	content, err := os.ReadFile(made)
	require.NoError(t, err)
	require.Equal(t, "once\n", string(content))
	sessions, err := filepath.Glob(filepath.Join(filepath.Dir(cmd.Dir), "state", "agent", "sessions", "*"))
	require.NoError(t, err)
	require.Len(t, sessions, 1, "to look is not to make a session: %s", strings.Join(sessions, " "))
}
