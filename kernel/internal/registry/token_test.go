package registry_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/registry"
	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// K08: the token is for the forge alone, also when it redirects to a host below its own.
func TestTokenStaysWithTheForge(t *testing.T) {
	for _, tt := range forges {
		t.Run(tt.name, func(t *testing.T) {
			n := registrytest.New(t)
			f := tt.on(n, tt.host)
			f.Token = token
			f.Publish(repo, built("1.0.0"))
			o, variable := registry.Options{}, tt.tokenEnv
			if variable == "" {
				variable = "CODEBERG_TOKEN"
				o.Forges = []config.Forge{{Host: tt.host, Kind: config.Gitea, AuthEnv: variable}}
			}
			c := client(t, n, o, variable+"="+token)
			r, err := c.Resolve(t.Context(), query(t, tt.host+"/"+repo, ""))
			require.NoError(t, err)
			a, err := r.Archive(linux)
			require.NoError(t, err)
			data, err := download(t, c, a)
			require.NoError(t, err)
			require.Equal(t, built("1.0.0").Data(a.Name), data)
			require.NotEmpty(t, n.To(f.Storage))
			for _, request := range n.Requests() {
				if request.Host == f.API {
					require.Equal(t, "Bearer "+token, request.Authorization())
					continue
				}
				require.Empty(t, request.Authorization(), request.Host)
				require.Empty(t, request.Header.Get("Referer"), "it would tell a signed address")
			}
		})
	}
}

// One kind of token is nothing for another kind of forge, nor for a host that only claims to be one.
func TestTokenOfAnotherForge(t *testing.T) {
	onEach(t, func(t *testing.T, n *registrytest.Net, f *registrytest.Forge, source, tokenEnv string) {
		f.Publish(repo, built("1.0.0"))
		var env []string
		for _, name := range []string{"GITHUB_TOKEN", "GITLAB_TOKEN", "GITEA_TOKEN"} {
			if name != tokenEnv {
				env = append(env, name+"="+token)
			}
		}
		_, err := client(t, n, registry.Options{}, env...).Resolve(t.Context(), query(t, source, ""))
		require.NoError(t, err)
		for _, request := range n.Requests() {
			require.Empty(t, request.Authorization())
		}
	})
}

// What cannot be a token is told by its variable, and sent nowhere.
func TestTokenThatIsNone(t *testing.T) {
	n := registrytest.New(t)
	n.GitHub("github.com")
	_, err := client(t, n, registry.Options{}, "GITHUB_TOKEN="+token+"\nX-Evil: 1").Resolve(t.Context(), query(t, "github.com/"+repo, ""))
	requireCode(t, err, registry.AccessDenied)
	require.ErrorContains(t, err, "the value of GITHUB_TOKEN is no token")
	require.Empty(t, n.Requests())
}

// A Gitea behind a proxy may call its own files http; anyone else's stay what they are, and are refused.
func TestAddressesInTheClear(t *testing.T) {
	n := registrytest.New(t)
	f := n.Gitea("codeberg.org")
	f.Publish(repo, built("1.0.0"))
	answer := `[{"tag_name":"v1.0.0","assets":[{"name":"checksums.txt","browser_download_url":"http://%s/agentco/provider-x/releases/download/v1.0.0/provider-x_1.0.0_checksums.txt"}]}]`
	n.Break("codeberg.org", "/api/v1", 1, registrytest.Headers(200, fmt.Sprintf(answer, "codeberg.org")))
	q := query(t, "codeberg.org/"+repo, "")
	q.Platform = registry.Platform{OS: "plan9", Arch: "386"} // there is no archive in this answer
	r, err := client(t, n, registry.Options{}).Resolve(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, "checksums.txt", r.ChecksumsFile)
	n.Break("codeberg.org", "/api/v1", 1, registrytest.Headers(200, fmt.Sprintf(answer, "cdn.example.org")))
	_, err = client(t, n, registry.Options{}).Resolve(t.Context(), query(t, "codeberg.org/"+repo, ""))
	requireCode(t, err, registry.InvalidAnswer)
	require.ErrorContains(t, err, "not https")
}

func TestRedirects(t *testing.T) {
	const name = "provider-x_1.0.0_linux_amd64.tar.gz"
	tests := []struct {
		name, to string
		code     registry.Code
		want     string
	}{
		{"to plain http", "http://storage.example/" + name, registry.InvalidAnswer, "not encrypted"},
		{"to this machine", "http://127.0.0.1:9/" + name, registry.InvalidAnswer, "127.0.0.1:9/" + name + ", which is this machine"},
		{"to this machine by another name", "https://LOCALHOST/" + name, registry.InvalidAnswer, "which is this machine"},
		{"to a file", "file:///etc/passwd", registry.InvalidAnswer, "not encrypted"},
		{"in a circle", "https://github.com/agentco/provider-x/releases/download/v1.0.0/" + name, registry.InvalidAnswer, "redirects without end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := registrytest.New(t)
			n.GitHub("github.com").Publish(repo, built("1.0.0"))
			c := client(t, n, registry.Options{}, "GITHUB_TOKEN=")
			r, err := c.Resolve(t.Context(), query(t, "github.com/"+repo, ""))
			require.NoError(t, err)
			a, err := r.Archive(linux)
			require.NoError(t, err)
			n.Break("github.com", name, -1, registrytest.Redirect(tt.to))
			data, err := download(t, c, a)
			requireCode(t, err, tt.code)
			require.ErrorContains(t, err, tt.want)
			require.Empty(t, data)
		})
	}
}

// The token comes back to the forge when a redirect leads there again by way of another host: it is the same host
// then, and shown nothing it does not know.
func TestRedirectToItself(t *testing.T) {
	n := registrytest.New(t)
	f := n.GitHub("github.com")
	f.Token = token
	f.Publish(repo, built("1.0.0"))
	n.Break("api.github.com", "repos/agentco/old-name", -1, registrytest.Redirect("https://api.github.com/repos/"+repo+"/releases?per_page=100"))
	r, err := client(t, n, registry.Options{}, "GITHUB_TOKEN="+token).Resolve(t.Context(), query(t, "github.com/agentco/old-name//provider-x", ""))
	require.NoError(t, err)
	require.Equal(t, "1.0.0", r.Version)
}
