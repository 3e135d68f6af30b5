package config

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMirrorFor(t *testing.T) {
	m := Mirror{
		Default: "https://all.example.org",
		Rules: []MirrorRule{
			{Prefix: "github.com", URL: "https://gh.example.org"},
			{Prefix: "GitHub.com/o/", URL: "https://o.example.org", AuthEnv: "O"},
			{Prefix: "github.com/o/r//provider-x", URL: "/srv/mirror"},
		},
	}
	for source, want := range map[string]string{
		"github.com/o/r//provider-x": "/srv/mirror",
		"github.com/o/r//provider-y": "https://o.example.org",
		"github.com/o/r":             "https://o.example.org",
		"github.com/other/r":         "https://gh.example.org",
		"github.com.example/o/r":     "https://all.example.org",
		"gitlab.com/o/r":             "https://all.example.org",
	} {
		s, err := ParseSource(source)
		require.NoError(t, err)
		rule, ok := m.For(s)
		require.True(t, ok)
		require.Equal(t, want, rule.URL, source)
	}
	_, ok := Mirror{Rules: m.Rules}.For(Source{Host: "gitlab.com", Owner: "o", Repo: "r"})
	require.False(t, ok)
}

// K18: direct is for what it names, not for what begins with the same letters.
func TestMirrorAllowsDirect(t *testing.T) {
	s := Source{Host: "github.com", Owner: "o", Repo: "r"}
	for prefix, want := range map[string]bool{"": true, "github.com": true, "github.com/o": true, "github.com/o/r/": true, "github.com/o/r2": false, "github.com/": true, "git": false} {
		require.Equal(t, want, Mirror{Direct: []string{prefix}}.AllowsDirect(s), prefix)
	}
	require.False(t, Mirror{}.AllowsDirect(s))
}

func TestMirrorAddresses(t *testing.T) {
	dir := filepath.ToSlash(t.TempDir())
	for address, problem := range map[string]string{
		dir:                             "",
		"file://" + dir:                 "",
		"https://m.example.org:8443/a/": "",
		"http://127.0.0.1:8080":         "",
		"http://localhost:8080/a":       "",
		"http://[::1]:8080/a":           "",
		"http://m.example.org":          "Plain http is for this machine alone",
		"http://localhost.example.org":  "Plain http is for this machine alone",
		"https://m.example.org?a=b":     "must not have a query",
		"file://host/a":                 "must begin with https://",
		"relative/folder":               "must begin with https://",
		"ftp://m.example.org":           "must begin with https://",
	} {
		_, diags := loadGlobalText("registry_mirror {\n  default = \"" + address + "\"\n}\n")
		if problem == "" {
			require.Empty(t, diags, address)
			continue
		}
		require.Len(t, diags, 1, address)
		require.Contains(t, diags[0].Detail, problem)
	}
}

func TestDirectAndForges(t *testing.T) {
	g, diags := loadGlobalText(`
registry_mirror {
  default = "https://m.example.org"
  direct { prefix = "github.com/o/b" }
  direct {}
}
forge "Git.example.org" {
  type = "gitlab"
}
forge "forge.example.org:3000" {
  type = "gitea"
  auth = env("FORGE_TOKEN")
}`)
	require.Empty(t, diags)
	require.Equal(t, []string{"github.com/o/b", ""}, g.Mirror.Direct)
	require.Equal(t, []Forge{{Host: "git.example.org", Kind: GitLab}, {Host: "forge.example.org:3000", Kind: Gitea, AuthEnv: "FORGE_TOKEN"}}, g.Forges)
}

func TestDirectAndForgeProblems(t *testing.T) {
	tests := []struct{ name, src, at, want string }{
		{"type of forge", `forge "a.example" { type = "gitlub" }`, "config.hcl:1:28", "Unknown type of forge"},
		{"no type", `forge "a.example" {}`, "config.hcl:1:1", "Missing type"},
		{"no host", `forge { type = "gitlab" }`, "config.hcl:1:1", "Missing host"},
		{"a URL for a host", `forge "https://a.example" { type = "gitlab" }`, "config.hcl:1:7", "Invalid host"},
		{"the same host twice", "forge \"a.example\" { type = \"gitlab\" }\nforge \"a.example\" { type = \"gitea\" }", "config.hcl:2:1", `Duplicate forge "a.example"`},
		{"literal token", `forge "a.example" { ` + "\n type = \"gitlab\"\n auth = \"" + secret + "\"\n}", "config.hcl:3:9", "must come from the environment"},
		{"argument of direct", "registry_mirror {\n direct { prefx = \"a\" }\n}", "config.hcl:2:11", `Unknown argument "prefx"`},
		{"block of mirrors", "registry_mirror {\n indirect {}\n}", "config.hcl:2:2", `Unknown block "indirect"`},
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

func TestPublicKey(t *testing.T) {
	required := func(key string) string {
		return "required_providers {\n  x = {\n    source     = \"github.com/o/r\"\n    public_key = " + key + "\n  }\n}\n"
	}
	for key, want := range map[string]string{
		`"RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"`:                                             "minisign key E7620F1842B4E81F",
		`"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl release@example.org"`: "ssh-ed25519 key SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU",
	} {
		p, diags := loadText(required(key))
		require.Empty(t, diags)
		require.Equal(t, want, p.Providers[0].PublicKey.String())
	}
	p, _ := loadText(withProvider(""))
	require.Nil(t, p.Providers[0].PublicKey)
	for key, want := range map[string]string{
		`"RWQf6LRCGA9i53"`: "not a minisign public key",
		`"ssh-rsa AAAA"`:   "not an ssh public key",
		`"key.pub"`:        "is neither a minisign key",
		`""`:               "is empty",
		`5`:                "",
	} {
		_, diags := loadText(required(key))
		require.Len(t, diags, 1, key)
		require.Equal(t, "agent.hcl:4:18", diags[0].Position())
		require.Contains(t, diags[0].Detail, want)
	}
}

func TestConstraintExact(t *testing.T) {
	for s, want := range map[string]string{"1.2.3": "1.2.3", "= 1.2": "1.2.0", "> 1, = 1.2.3-rc.1": "1.2.3-rc.1", "~> 1.2.3": "", ">= 1.2.3, <= 1.2.3": ""} {
		c, err := ParseConstraint(s)
		require.NoError(t, err)
		if want == "" {
			require.Nil(t, c.Exact(), s)
			continue
		}
		require.Equal(t, want, c.Exact().String(), s)
	}
	require.Nil(t, Constraint{}.Exact())
}
