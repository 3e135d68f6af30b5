package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/policy"
)

func loadFile(t *testing.T, text string) (*Project, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), FileName)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	p, err := Load(path, FileName, testScope())
	require.NoError(t, err)
	return p, path
}

const needed = "# mine\nrequired_providers   {\n\tfs = { source = \"github.com/o/r\" } # odd\n}\n"

var similar = policy.Match{Provider: "fs", ToolName: "run", Command: []string{"go test *", `echo '${x}' "%{y}"`}, Arguments: map[string]string{"files.path": "a/*", "cwd": `sub\[1\]`}}

func TestAddition(t *testing.T) {
	for name, text := range map[string]string{
		"as it is": needed, "no newline at the end": needed[:len(needed)-1], "byte-order mark": "\xef\xbb\xbf" + needed,
		"comment at the end": needed + "# end", "one of the name": needed + "policy \"allow-run\" {\n match = { provider = \"fs\" }\n action = \"ask\"\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			p, path := loadFile(t, text)
			had := len(p.Policies)
			a, err := p.Allowing(similar)
			require.NoError(t, err)
			still, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, text, string(still), "nothing is written before it was shown")
			require.NoError(t, a.Write())
			now, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, text, string(now[:len(text)]), "what was there stays as it is")
			require.Contains(t, string(now[len(text):]), a.Text)
			again, err := Load(path, FileName, testScope())
			require.NoError(t, err)
			require.Len(t, again.Policies, had+1)
			require.True(t, similar.Equal(again.Policies[had].Match), again.Policies[had].Match.String())
			require.Equal(t, policy.Allow, again.Policies[had].Action)

			other := similar
			other.Command = []string{"ls"}
			b, err := p.Allowing(other)
			require.NoError(t, err, "one after the other")
			require.NoError(t, b.Write())
		})
	}
}

func TestAdditionText(t *testing.T) {
	p, _ := loadFile(t, needed)
	a, err := p.Allowing(similar)
	require.NoError(t, err)
	require.Equal(t, `policy "allow-run" {
  match = {
    provider  = "fs"
    tool_name = "run"
    command   = ["go test *", "echo '$${x}' \"%%{y}\""]
    arguments = {
      cwd          = "sub\\[1\\]"
      "files.path" = "a/*"
    }
  }
  action = "allow"
}
`, a.Text)
}

func TestAdditionRefused(t *testing.T) {
	t.Run("changed before it was shown", func(t *testing.T) {
		p, path := loadFile(t, needed)
		require.NoError(t, os.WriteFile(path, []byte(needed+"# more\n"), 0o600))
		_, err := p.Allowing(similar)
		require.ErrorContains(t, err, "has changed since it was read")
	})
	t.Run("changed after it was shown", func(t *testing.T) {
		p, path := loadFile(t, needed)
		a, err := p.Allowing(similar)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte(needed+"# more\n"), 0o600))
		require.ErrorContains(t, a.Write(), "has changed since it was read")
		now, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, needed+"# more\n", string(now))
	})
	t.Run("contradicts", func(t *testing.T) {
		p, _ := loadFile(t, needed+"policy \"no\" {\n match = { provider = \"fs\", tool_name = \"run\", command = [\"ls\"] }\n action = \"ask\"\n}\n")
		_, err := p.Allowing(policy.Match{Provider: "fs", ToolName: "run", Command: []string{"ls"}})
		require.ErrorContains(t, err, "contradict")
	})
	t.Run("gone", func(t *testing.T) {
		p, path := loadFile(t, needed)
		a, err := p.Allowing(similar)
		require.NoError(t, err)
		require.NoError(t, os.Remove(path))
		require.Error(t, a.Write())
		require.NoFileExists(t, path)
	})
}

func TestAdditionKeepsLineEnds(t *testing.T) {
	p, path := loadFile(t, "required_providers {\r\n  fs = { source = \"github.com/o/r\" }\r\n}\r\n")
	a, err := p.Allowing(similar)
	require.NoError(t, err)
	require.NoError(t, a.Write())
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotRegexp(t, `[^\r]\n`, string(now))
	_, err = Load(path, FileName, testScope())
	require.NoError(t, err)
}
