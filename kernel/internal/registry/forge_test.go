package registry_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/registry"
	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// forges are one of each kind, on hosts that everybody knows.
var forges = []struct {
	name, host, tokenEnv string
	on                   func(*registrytest.Net, string) *registrytest.Forge
}{
	{"GitHub", "github.com", "GITHUB_TOKEN", (*registrytest.Net).GitHub},
	{"GitLab", "gitlab.com", "GITLAB_TOKEN", (*registrytest.Net).GitLab},
	{"Gitea", "codeberg.org", "", (*registrytest.Net).Gitea},
}

// onEach runs a test against every kind of forge.
func onEach(t *testing.T, test func(t *testing.T, n *registrytest.Net, f *registrytest.Forge, source, tokenEnv string)) {
	for _, tt := range forges {
		t.Run(tt.name, func(t *testing.T) {
			n := registrytest.New(t)
			test(t, n, tt.on(n, tt.host), tt.host+"/"+repo, tt.tokenEnv)
		})
	}
}

func TestResolveAndDownload(t *testing.T) {
	onEach(t, func(t *testing.T, n *registrytest.Net, f *registrytest.Forge, source, _ string) {
		f.Publish(repo, built("1.2.0"), built("1.10.0"), built("1.9.0"))
		c := client(t, n, registry.Options{UserAgent: "agent/9.9.9"})
		r, err := c.Resolve(t.Context(), query(t, source, "~> 1.2"))
		require.NoError(t, err)
		require.Equal(t, "1.10.0", r.Version)
		require.Equal(t, f.Host, r.From)
		require.Empty(t, r.Warnings)
		require.Equal(t, `the newest of 3 that "~> 1.2" allows`, r.Reason)
		require.Equal(t, "sha256 of provider-x_1.10.0_checksums.txt, not signed", r.Verified())

		a, err := r.Archive(linux)
		require.NoError(t, err)
		require.Equal(t, "provider-x_1.10.0_linux_amd64.tar.gz", a.Name)
		data, err := download(t, c, a)
		require.NoError(t, err)
		require.Equal(t, built("1.10.0").Data(a.Name), data)
		for _, request := range n.Requests() {
			require.Equal(t, "agent/9.9.9", request.Header.Get("User-Agent"))
			require.Empty(t, request.Authorization())
		}

		windows, err := r.Archive(registry.Platform{OS: "windows", Arch: "amd64"})
		require.NoError(t, err)
		require.Equal(t, "provider-x_1.10.0_windows_amd64.zip", windows.Name)
	})
}

// K01: the checksums of every platform are known, whichever one is installed.
func TestChecksumsOfAllPlatforms(t *testing.T) {
	onEach(t, func(t *testing.T, n *registrytest.Net, f *registrytest.Forge, source, _ string) {
		f.Publish(repo, built("1.0.0").With("LICENSE", []byte("free")))
		r, err := client(t, n, registry.Options{}).Resolve(t.Context(), query(t, source, ""))
		require.NoError(t, err)
		sums := r.Checksums()
		require.Len(t, sums, 3)
		for p, sum := range sums {
			a, err := r.Archive(p)
			require.NoError(t, err)
			require.Equal(t, a.SHA256, sum)
		}
		_, err = r.Archive(registry.Platform{OS: "plan9", Arch: "mips"})
		requireCode(t, err, registry.NoAsset)
		require.ErrorContains(t, err, "It is released for darwin_arm64, linux_amd64, windows_amd64, as provider-x_1.0.0_darwin_arm64.tar.gz, provider-x_1.0.0_linux_amd64.tar.gz")
	})
}

// K05: a newest release that is incomplete breaks nobody but who pins it, and tags that name no version do not count.
func TestIncompleteNewestRelease(t *testing.T) {
	onEach(t, func(t *testing.T, n *registrytest.Net, f *registrytest.Forge, source, _ string) {
		draft := built("1.5.0")
		draft.Draft = true
		junk := built("9.9.9")
		junk.Tag = "list"
		incomplete := built("1.4.0").Without("provider-x_1.4.0_checksums.txt")
		f.Publish(repo, built("1.3.0"), incomplete, built("1.4.1-rc.1"), draft, junk)
		c := client(t, n, registry.Options{})
		r, err := c.Resolve(t.Context(), query(t, source, "~> 1.0"))
		require.NoError(t, err)
		require.Equal(t, "1.3.0", r.Version)
		require.Len(t, r.Warnings, 1)
		require.Contains(t, r.Warnings[0], "1.4.0 is passed over: it has no checksums file such as provider-x_1.4.0_checksums.txt")

		_, err = c.Resolve(t.Context(), query(t, source, "= 1.4.0"))
		requireCode(t, err, registry.NoChecksum)
		require.ErrorContains(t, err, "provider-x_1.4.0_checksums.txt")

		_, err = c.Resolve(t.Context(), query(t, source, "= 1.5.0"))
		requireCode(t, err, registry.NoMatchingVersion)
		require.ErrorContains(t, err, map[string]string{"gitlab.com": "v1.5.0 is not released yet"}[f.Host])
	})
}

// The same kind as K05: the archive that the checksums promise is still on its way.
func TestArchiveStillBeingUploaded(t *testing.T) {
	onEach(t, func(t *testing.T, n *registrytest.Net, f *registrytest.Forge, source, _ string) {
		f.Publish(repo, built("1.3.0"), built("1.4.0").Without("provider-x_1.4.0_linux_amd64.tar.gz"))
		c := client(t, n, registry.Options{})
		r, err := c.Resolve(t.Context(), query(t, source, ">= 1.0.0"))
		require.NoError(t, err)
		require.Equal(t, "1.3.0", r.Version)
		require.Contains(t, r.Warnings[0], "1.4.0 is passed over: there is no provider-x_1.4.0_linux_amd64.tar.gz")

		elsewhere := query(t, source, ">= 1.0.0")
		elsewhere.Platform = registry.Platform{OS: "darwin", Arch: "arm64"}
		r, err = c.Resolve(t.Context(), elsewhere)
		require.NoError(t, err)
		require.Equal(t, "1.4.0", r.Version)
	})
}

// GitHub lists files whose upload has begun.
func TestUnfinishedUpload(t *testing.T) {
	n := registrytest.New(t)
	half := built("1.4.0")
	half.Assets[0].Unfinished = true
	n.GitHub("github.com").Publish(repo, built("1.3.0"), half)
	r, err := client(t, n, registry.Options{}).Resolve(t.Context(), query(t, "github.com/"+repo, ""))
	require.NoError(t, err)
	require.Equal(t, "1.3.0", r.Version)
}

func TestNoReleaseIsComplete(t *testing.T) {
	n := registrytest.New(t)
	f := n.GitHub("github.com")
	for i := range 6 {
		v := fmt.Sprintf("1.%d.0", i)
		f.Publish(repo, built(v).Without("provider-x_"+v+"_checksums.txt"))
	}
	_, err := client(t, n, registry.Options{}).Resolve(t.Context(), query(t, "github.com/"+repo, "~> 1.0"))
	requireCode(t, err, registry.NoChecksum)
	require.ErrorContains(t, err, "v1.5.0")
	require.ErrorContains(t, err, "None of the 6 releases")
}

// K07: what is not on the first page is found, and an exact pin needs no pages.
func TestPaging(t *testing.T) {
	onEach(t, func(t *testing.T, n *registrytest.Net, f *registrytest.Forge, source, _ string) {
		for i := range 20 {
			f.Publish(repo, built(fmt.Sprintf("1.0.%d", i)))
		}
		for i := range 100 {
			f.Publish(repo, built(fmt.Sprintf("2.0.0-rc.%d", i)))
		}
		c := client(t, n, registry.Options{})
		r, err := c.Resolve(t.Context(), query(t, source, ">= 1.0.0"))
		require.NoError(t, err)
		require.Equal(t, "1.0.19", r.Version)
		require.Empty(t, r.Warnings)

		n.Forget()
		r, err = client(t, n, registry.Options{}).Resolve(t.Context(), query(t, source, "= 1.0.0"))
		require.NoError(t, err)
		require.Equal(t, "1.0.0", r.Version)
		require.Len(t, n.To(f.API)[:1], 1)
		require.Contains(t, n.To(f.API)[0].Path, "v1.0.0")
		for _, request := range n.Requests() {
			require.NotContains(t, request.Query, "page")
		}
	})
}

// K07: pages do not go on for ever, and it is said that there were more.
func TestPagingIsCapped(t *testing.T) {
	n := registrytest.New(t)
	f := n.Gitea("codeberg.org")
	f.Publish(repo, built("0.1.0"))
	for i := range 1000 {
		f.Publish(repo, registrytest.Release{Tag: fmt.Sprintf("nightly-%d", i)})
	}
	c := client(t, n, registry.Options{})
	_, err := c.Resolve(t.Context(), query(t, "codeberg.org/"+repo, ""))
	requireCode(t, err, registry.NoMatchingVersion)
	require.ErrorContains(t, err, "only the newest 1000 releases were read")
	f.Publish(repo, built("1.0.0"))
	r, err := client(t, n, registry.Options{}).Resolve(t.Context(), query(t, "codeberg.org/"+repo, ""))
	require.NoError(t, err)
	require.Equal(t, "1.0.0", r.Version)
	require.Contains(t, r.Warnings[0], "codeberg.org has more than 1000 releases")
}

// K13: what the constraints make of one list of releases.
func TestVersionsChosen(t *testing.T) {
	n := registrytest.New(t)
	f := n.GitHub("github.com")
	for _, v := range []string{"1.2.0-rc.1", "1.2.0-rc.2", "1.2.0", "1.3.0-rc.1", "1.10.0", "2.0.0-rc.1"} {
		f.Publish(repo, built(v))
	}
	c := client(t, n, registry.Options{})
	tests := []struct{ constraint, want string }{
		{"", "1.10.0"},
		{"~> 1.2", "1.10.0"},
		{"~> 1.2.0", "1.2.0"},
		{"~> 1.2.0-rc.1", "1.2.0"},
		{">= 1.0.0-0", "1.10.0"},
		{"= 1.3.0-rc.1", "1.3.0-rc.1"},
		{"1.2.0-rc.1", "1.2.0-rc.1"},
		{">= 2.0.0-rc.1", "2.0.0-rc.1"},
		{"< 1.2.0", ""},
		{"~> 1.3.0", ""},
		{"= 1.2.0, > 1.2.0", ""},
		{"= 1.7.0", ""},
	}
	for _, tt := range tests {
		t.Run(tt.constraint, func(t *testing.T) {
			r, err := c.Resolve(t.Context(), query(t, "github.com/"+repo, tt.constraint))
			if tt.want == "" {
				requireCode(t, err, registry.NoMatchingVersion)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, r.Version)
		})
	}
	_, err := c.Resolve(t.Context(), query(t, "github.com/"+repo, "~> 1.3.0"))
	require.ErrorContains(t, err, "Its versions are 2.0.0-rc.1, 1.10.0, 1.3.0-rc.1, 1.2.0, 1.2.0-rc.2, 1.2.0-rc.1. A pre-release counts only when the constraint names one")
}

// A release that its forge calls a pre-release is one, whatever its tag says.
func TestMarkedAsPrerelease(t *testing.T) {
	for _, host := range []string{"github.com", "codeberg.org"} {
		n := registrytest.New(t)
		f := map[string]func(string) *registrytest.Forge{"github.com": n.GitHub, "codeberg.org": n.Gitea}[host](host)
		marked := built("1.4.0")
		marked.Prerelease = true
		older := built("1.2.0")
		older.Prerelease = true
		f.Publish(repo, older, built("1.3.0"), marked)
		c := client(t, n, registry.Options{})
		r, err := c.Resolve(t.Context(), query(t, host+"/"+repo, "~> 1.0"))
		require.NoError(t, err)
		require.Equal(t, "1.3.0", r.Version)
		require.Len(t, r.Warnings, 1, "older ones are nobody's business")
		require.Contains(t, r.Warnings[0], `v1.4.0 is marked as a pre-release`)
		r, err = c.Resolve(t.Context(), query(t, host+"/"+repo, "= 1.4.0"))
		require.NoError(t, err)
		require.Equal(t, "1.4.0", r.Version)
	}
}

// One repository that releases several providers, with one checksums file for all.
func TestSeveralProvidersOfOneRepository(t *testing.T) {
	onEach(t, func(t *testing.T, n *registrytest.Net, f *registrytest.Forge, _, _ string) {
		r := registrytest.Built("provider-bash", "2.0.0", []byte("bash"), "linux_amd64", "linux_arm64").Without("provider-bash_2.0.0_checksums.txt")
		r.Assets = append(r.Assets, registrytest.Built("provider-x", "2.0.0", []byte("x"), "linux_amd64").Without("provider-x_2.0.0_checksums.txt").Assets...)
		f.Publish("agentco/agent", r.Summed("agent_2.0.0_checksums.txt"))
		c := client(t, n, registry.Options{})
		for provider, platforms := range map[string]int{"provider-bash": 2, "provider-x": 1} {
			got, err := c.Resolve(t.Context(), query(t, f.Host+"/agentco/agent//"+provider, "~> 2.0.0"))
			require.NoError(t, err)
			require.Len(t, got.Checksums(), platforms)
			a, err := got.Archive(linux)
			require.NoError(t, err)
			require.Equal(t, provider+"_2.0.0_linux_amd64.tar.gz", a.Name)
		}
		_, err := c.Resolve(t.Context(), query(t, f.Host+"/agentco/agent//provider-zsh", ""))
		requireCode(t, err, registry.NoAsset)
		require.ErrorContains(t, err, "Its files are agent_2.0.0_checksums.txt, provider-bash_2.0.0_linux_amd64.tar.gz")

		lists := 0
		for _, request := range n.To(f.API) {
			if request.Query != "" {
				lists++
			}
		}
		require.Equal(t, 1, lists, "the releases are listed once for all")
		require.Len(t, n.To(f.Storage), 1, "and so is their checksums file")
	})
}

// The kind of K05: a provider that is not part of every release of its repository.
func TestProviderMissingFromTheNewestRelease(t *testing.T) {
	onEach(t, func(t *testing.T, n *registrytest.Net, f *registrytest.Forge, _, _ string) {
		f.Publish("agentco/agent", built("2.0.0").Without("provider-x_2.0.0_checksums.txt").Summed("agent_2.0.0_checksums.txt"))
		f.Publish("agentco/agent", registrytest.Built("provider-bash", "2.0.1", []byte("bash"), "linux_amd64").Summed("agent_2.0.1_checksums.txt"))
		r, err := client(t, n, registry.Options{}).Resolve(t.Context(), query(t, f.Host+"/agentco/agent//provider-x", "~> 2.0"))
		require.NoError(t, err)
		require.Equal(t, "2.0.0", r.Version)
		require.Contains(t, r.Warnings[0], "2.0.1 is passed over: there is no provider-x_2.0.1_linux_amd64.tar.gz")
	})
}

func TestNoSuchVersion(t *testing.T) {
	onEach(t, func(t *testing.T, n *registrytest.Net, f *registrytest.Forge, source, _ string) {
		f.Publish(repo, built("1.0.0"), built("1.1.0"))
		_, err := client(t, n, registry.Options{}).Resolve(t.Context(), query(t, source, "= 1.2.0"))
		requireCode(t, err, registry.NoMatchingVersion)
		require.ErrorContains(t, err, "there is no release v1.2.0. Its versions are 1.1.0, 1.0.0")
	})
}

func TestNoSuchRepository(t *testing.T) {
	onEach(t, func(t *testing.T, n *registrytest.Net, f *registrytest.Forge, _, tokenEnv string) {
		for _, constraint := range []string{"", "= 1.0.0"} {
			_, err := client(t, n, registry.Options{}).Resolve(t.Context(), query(t, f.Host+"/nobody/nothing", constraint))
			requireCode(t, err, registry.NotFound)
			if tokenEnv != "" {
				require.ErrorContains(t, err, "A private repository needs a token: set "+tokenEnv)
			}
		}
	})
}

func TestAnswersThatAreNotTheAPI(t *testing.T) {
	for _, body := range []string{"<html>", `{"message":"hello"}`, `[{"tag_name": 5}]`, "", `[[]]`} {
		onEach(t, func(t *testing.T, n *registrytest.Net, f *registrytest.Forge, source, _ string) {
			n.Break(f.API, "releases", -1, registrytest.Headers(http.StatusOK, body))
			_, err := client(t, n, registry.Options{}).Resolve(t.Context(), query(t, source, ""))
			requireCode(t, err, registry.InvalidAnswer)
			_, err = client(t, n, registry.Options{}).Resolve(t.Context(), query(t, source, "= 1.0.0"))
			requireCode(t, err, registry.InvalidAnswer)
		})
	}
}

// A list that leads to another host would lead the token there.
func TestNextPageOnAnotherHost(t *testing.T) {
	n := registrytest.New(t)
	n.GitHub("github.com")
	n.Break("api.github.com", "", -1, registrytest.Headers(http.StatusOK, "[]", "Link", `<https://evil.example/more>; rel="next"`))
	_, err := client(t, n, registry.Options{}, "GITHUB_TOKEN="+token).Resolve(t.Context(), query(t, "github.com/"+repo, ""))
	requireCode(t, err, registry.InvalidAnswer)
	require.Empty(t, n.To("evil.example"))
}
