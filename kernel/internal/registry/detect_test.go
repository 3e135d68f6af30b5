package registry_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/registry"
	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// Hosts of one's own are asked what they are, without a token.
func TestDetect(t *testing.T) {
	for _, tt := range forges {
		t.Run(tt.name, func(t *testing.T) {
			n := registrytest.New(t)
			f := tt.on(n, "git.example.org")
			f.Publish(repo, built("1.0.0"))
			c := client(t, n, registry.Options{}, "GITHUB_TOKEN="+token, "GITLAB_TOKEN="+token)
			for range 2 {
				r, err := c.Resolve(t.Context(), query(t, "git.example.org/"+repo, ""))
				require.NoError(t, err)
				require.Equal(t, "1.0.0", r.Version)
			}
			probes := 0
			for _, request := range n.Requests() {
				require.Empty(t, request.Authorization())
				if request.Path == "/api/v1/version" {
					probes++
				}
			}
			require.Equal(t, 1, probes)
		})
	}
}

// Without TLS a forge is only spoken to on this machine.
func TestLoopbackForge(t *testing.T) {
	for _, tt := range forges {
		t.Run(tt.name, func(t *testing.T) {
			n := registrytest.New(t)
			f := tt.on(n, "git.example.org")
			f.Publish(repo, built("1.0.0"))
			c := client(t, n, registry.Options{})
			r, err := c.Resolve(t.Context(), query(t, f.Loopback()+"/"+repo, ""))
			require.NoError(t, err)
			a, err := r.Archive(linux)
			require.NoError(t, err)
			_, err = download(t, c, a)
			require.NoError(t, err)
		})
	}
}

func TestUnknownForge(t *testing.T) {
	n := registrytest.New(t)
	n.Handle("www.example.org", http.NotFoundHandler())
	_, err := client(t, n, registry.Options{}).Resolve(t.Context(), query(t, "www.example.org/"+repo, ""))
	requireCode(t, err, registry.UnknownForge)
	require.ErrorContains(t, err, `forge "www.example.org" { type =`)
}

func TestForgeOfOnesOwn(t *testing.T) {
	n := registrytest.New(t)
	f := n.GitLab("git.example.org")
	f.Token = token
	f.Publish(repo, built("1.0.0"))
	own := registry.Options{Forges: []config.Forge{{Host: "git.example.org", Kind: config.GitLab, AuthEnv: "WORK_TOKEN"}}}
	c := client(t, n, own, "WORK_TOKEN="+token)
	r, err := c.Resolve(t.Context(), query(t, "git.example.org/"+repo, ""))
	require.NoError(t, err)
	require.Equal(t, "1.0.0", r.Version)
	for _, request := range n.Requests() {
		require.NotContains(t, request.Path, "version", "nothing needs to be found out")
	}
	_, err = client(t, n, own, "GITLAB_TOKEN="+token).Resolve(t.Context(), query(t, "git.example.org/"+repo, ""))
	requireCode(t, err, registry.NotFound)
	require.ErrorContains(t, err, "set WORK_TOKEN")
}
