package config

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func loadGlobalText(src string) (*Global, Diagnostics) {
	f, diags := parse("config.hcl", []byte(src))
	g, err := loadGlobal(f, diags, "config.hcl", testScope())
	var ds Diagnostics
	errors.As(err, &ds)
	return g, ds
}

func TestLoadGlobal(t *testing.T) {
	g, diags := loadGlobalText(`
dev_overrides {
  fs   = "/bin/provider-fs"
  bash = "${path.home}/bin/provider-bash"
}
registry_mirror {
  default = "https://mirror.example.org/all"
  mirror {
    prefix = "github.com/o"
    url    = "https://mirror.example.org/o"
    auth   = env("NOT_SET_YET")
  }
}`)
	require.Empty(t, diags)
	require.Equal(t, map[string]string{"fs": "/bin/provider-fs", "bash": "/home/u/bin/provider-bash"}, g.DevOverrides)
	require.Equal(t, Mirror{Default: "https://mirror.example.org/all", Rules: []MirrorRule{
		{Prefix: "github.com/o", URL: "https://mirror.example.org/o", AuthEnv: "NOT_SET_YET"},
	}}, g.Mirror)
}

func TestLoadGlobalWithoutFile(t *testing.T) {
	g, err := LoadGlobal(filepath.Join(t.TempDir(), "config.hcl"), testScope())
	require.NoError(t, err)
	require.Empty(t, g.DevOverrides)
}

// A relative path would be a file of the project, which must not say what to run.
func TestLoadGlobalOfNoUser(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("config.hcl", []byte(`dev_overrides { fs = "/bin/evil" }`), 0o600))
	_, err := LoadGlobal("config.hcl", testScope())
	require.ErrorContains(t, err, "Set HOME or XDG_CONFIG_HOME")
}

func TestLoadGlobalProblems(t *testing.T) {
	tests := []struct{ name, src, at, want string }{
		{"relative override", `dev_overrides { fs = "./provider-fs" }`, "config.hcl:1:22", "Not an absolute path"},
		{"project path", `dev_overrides { fs = "${path.rot}/x" }`, "config.hcl:1:29", ""},
		{"number", `dev_overrides { fs = 5 }`, "config.hcl:1:22", "Not an absolute path"},
		{"unknown block", `dev_override {}`, "config.hcl:1:1", `Unknown block "dev_override"`},
		{"argument", `x = 1`, "config.hcl:1:1", "Unexpected argument"},
		{"password in the URL", `registry_mirror { default = "https://u:` + secret + `@m.example.org" }`, "config.hcl:1:29", "Invalid URL"},
		{"not a URL", `registry_mirror { default = "m.example.org" }`, "config.hcl:1:29", "Invalid URL"},
		{"literal token", "registry_mirror {\n mirror {\n prefix = \"a\"\n url = \"https://b.example.org\"\n auth = \"" + secret + "\"\n }\n}", "config.hcl:5:9", "must come from the environment"},
		{"incomplete mirror", "registry_mirror {\n mirror {\n prefix = \"a\"\n }\n}", "config.hcl:2:2", "Missing url"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, diags := loadGlobalText(tt.src)
			require.NotEmpty(t, diags)
			require.Equal(t, tt.at, diags[0].Position())
			require.Contains(t, diags[0].Summary, tt.want)
			require.NotContains(t, diags[0].Summary+diags[0].Detail+diags[0].Source, secret)
		})
	}
}

func TestOverridden(t *testing.T) {
	p, _ := loadText(withProvider(""))
	require.Empty(t, (&Global{DevOverrides: map[string]string{"other": "/x"}}).Overridden(p))
	g, diags := loadGlobalText("dev_overrides {\n  other = \"/x\"\n  fs = \"/y\"\n}")
	require.Empty(t, diags)
	require.Equal(t, []string{"fs"}, g.Overridden(p))
	require.Equal(t, 3, g.OverrideLine("fs"))
	require.Zero(t, g.OverrideLine("bash"))
}
