package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOverriding(t *testing.T) {
	tests := []struct {
		name, before, want string
	}{
		{"no file", "", "dev_overrides {\n  bash   = \"/b\"\n  readme = \"/$${r}\"\n}\n"},
		{"other blocks and comments", "# mine\nforge \"git.example.org\" { # work\n  type = \"gitlab\"\n}",
			"# mine\nforge \"git.example.org\" { # work\n  type = \"gitlab\"\n}\n\ndev_overrides {\n  bash   = \"/b\"\n  readme = \"/$${r}\"\n}\n"},
		{"others of the block", "dev_overrides {\n  # the old one\n  other = \"/o\" # keep\n}\n# end\n",
			"dev_overrides {\n  # the old one\n  other  = \"/o\" # keep\n  bash   = \"/b\"\n  readme = \"/$${r}\"\n}\n# end\n"},
		{"one of them, elsewhere", "dev_overrides {\n  bash = \"/elsewhere\" # mine\n  zz   = \"${path.home}/z\"\n}\n",
			"dev_overrides {\n  bash   = \"/b\" # mine\n  zz     = \"${path.home}/z\"\n  readme = \"/$${r}\"\n}\n"},
		{"both", "dev_overrides {\n readme=\"/$${r}\"\n\n\n bash   =   \"/b\"\n}", "dev_overrides {\n readme=\"/$${r}\"\n\n\n bash   =   \"/b\"\n}"},
		{"in one row", "dev_overrides { other = \"/o\" }\n", "dev_overrides {\n  other  = \"/o\"\n  bash   = \"/b\"\n  readme = \"/$${r}\"\n}\n"},
		{"an empty block", "dev_overrides {}\n", "dev_overrides {\n  bash   = \"/b\"\n  readme = \"/$${r}\"\n}\n"},
		{"a mark, and rows of Windows", "\xef\xbb\xbfdev_overrides {\r\n  other = \"/o\"\r\n}\r\n",
			"\xef\xbb\xbfdev_overrides {\r\n  other  = \"/o\"\r\n  bash   = \"/b\"\r\n  readme = \"/$${r}\"\r\n}\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.hcl")
			if tt.before != "" {
				require.NoError(t, os.WriteFile(path, []byte(tt.before), 0o600))
			}
			scope := Scope{Home: "/home/me"}
			g, err := LoadGlobal(path, scope)
			require.NoError(t, err)
			paths := map[string]string{"bash": "/b", "readme": "/${r}"}
			before, after, err := g.Overriding(paths, scope)
			require.NoError(t, err)
			require.Equal(t, tt.before, string(before))
			require.Equal(t, tt.want, string(after))
			require.NoError(t, os.WriteFile(path, after, 0o600))
			g, err = LoadGlobal(path, scope)
			require.NoError(t, err)
			require.Subset(t, g.DevOverrides, paths)
			again, same, err := g.Overriding(paths, scope)
			require.NoError(t, err)
			require.Equal(t, string(after), string(again))
			require.Equal(t, string(after), string(same))
		})
	}
}

func TestOverridingWhatIsNotRight(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.hcl")
	require.NoError(t, os.WriteFile(path, []byte("dev_overides {\n}\n"), 0o600))
	_, _, err := (&Global{File: path}).Overriding(map[string]string{"bash": "/b"}, Scope{})
	require.ErrorAs(t, err, new(Diagnostics))
	require.ErrorContains(t, err, "dev_overides")
}
