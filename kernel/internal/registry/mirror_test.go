package registry_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/registry"
	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// mirrored writes the folder of a mirror that has releases of a source.
func mirrored(t *testing.T, dir, source string, releases ...registrytest.Release) {
	t.Helper()
	s, err := config.ParseSource(source)
	require.NoError(t, err)
	folder := filepath.Join(dir, filepath.FromSlash(registry.MirrorFolder(s)))
	index := registry.MirrorIndex{Versions: map[string]registry.MirrorRelease{}}
	for _, r := range releases {
		version := r.Tag[1:]
		require.NoError(t, os.MkdirAll(filepath.Join(folder, version), 0o755))
		var names []string
		for _, a := range r.Assets {
			require.NoError(t, os.WriteFile(filepath.Join(folder, version, a.Name), a.Data, 0o600))
			names = append(names, a.Name)
		}
		index.Versions[version] = registry.MirrorRelease{Files: names}
	}
	data, err := index.Marshal()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, registry.IndexName), data, 0o600))
}

// A folder, its address as a file URL, over https and over http on this machine: the same.
func TestMirrors(t *testing.T) {
	n := registrytest.New(t)
	dir := t.TempDir()
	mirrored(t, dir, "github.com/agentco/agent//provider-x", built("1.0.0"), built("1.10.0"), built("2.0.0-rc.1"))
	n.Mirror("mirror.example.org", dir, token)
	for name, rule := range map[string]config.MirrorRule{
		"folder":   {URL: dir},
		"file URL": {URL: "file://" + filepath.ToSlash(dir)},
		"https":    {URL: "https://mirror.example.org/", AuthEnv: "MIRROR_TOKEN"},
		"http":     {URL: n.LoopbackMirror(dir, ""), AuthEnv: ""},
	} {
		t.Run(name, func(t *testing.T) {
			n.Forget()
			rule.Prefix = "github.com/agentco"
			c := client(t, n, registry.Options{Mirror: config.Mirror{Rules: []config.MirrorRule{rule}}}, "MIRROR_TOKEN="+token, "GITHUB_TOKEN=other")
			for constraint, want := range map[string]string{"~> 1.0": "1.10.0", "= 1.0.0": "1.0.0", "= 2.0.0-rc.1": "2.0.0-rc.1"} {
				r, err := c.Resolve(t.Context(), query(t, "github.com/agentco/agent//provider-x", constraint))
				require.NoError(t, err)
				require.Equal(t, want, r.Version)
				require.True(t, r.Mirror)
				require.Contains(t, rule.URL, r.From)
				require.Len(t, r.Checksums(), 3)
				a, err := r.Archive(linux)
				require.NoError(t, err)
				data, err := download(t, c, a)
				require.NoError(t, err)
				require.Equal(t, built(want).Data(a.Name), data)
			}
			_, err := c.Resolve(t.Context(), query(t, "github.com/agentco/agent//provider-x", "= 3.0.0"))
			requireCode(t, err, registry.NoMatchingVersion)
			require.ErrorContains(t, err, "Its versions are 2.0.0-rc.1, 1.10.0, 1.0.0")
			require.Empty(t, n.To("api.github.com"))
			require.Empty(t, n.To("github.com"))
		})
	}
}

// K18: what the mirror does not have comes from elsewhere only where that is allowed.
func TestMirrorMissesOne(t *testing.T) {
	n := registrytest.New(t)
	f := n.GitHub("github.com")
	f.Publish("agentco/a", registrytest.Built("a", "9.9.9", binary, "linux_amd64"))
	f.Publish("agentco/b", registrytest.Built("b", "1.0.0", binary, "linux_amd64"))
	dir := t.TempDir()
	mirrored(t, dir, "github.com/agentco/a", registrytest.Built("a", "1.0.0", binary, "linux_amd64"))
	n.Mirror("mirror.example.org", dir, "")
	onlyB := config.Mirror{Default: "https://mirror.example.org", Direct: []string{"github.com/agentco/b"}}
	c := client(t, n, registry.Options{Mirror: onlyB})

	r, err := c.Resolve(t.Context(), query(t, "github.com/agentco/a", ""))
	require.NoError(t, err)
	require.Equal(t, "1.0.0", r.Version)
	require.Equal(t, "https://mirror.example.org", r.From)
	require.Empty(t, n.To("api.github.com"))

	r, err = c.Resolve(t.Context(), query(t, "github.com/agentco/b", ""))
	require.NoError(t, err)
	require.Equal(t, "github.com", r.From)
	require.False(t, r.Mirror)

	n.Forget()
	for _, constraint := range []string{"", "= 1.0.0"} {
		_, err = client(t, n, registry.Options{Mirror: config.Mirror{Default: "https://mirror.example.org"}}).Resolve(t.Context(), query(t, "github.com/agentco/b", constraint))
		requireCode(t, err, registry.NotFound)
		require.ErrorContains(t, err, "https://mirror.example.org/github.com/agentco/b/index.json")
		require.ErrorContains(t, err, "Its forge was not asked: that needs a direct block in registry_mirror of config.hcl")
	}
	// A version that the mirror lacks is as absent as a source that it lacks.
	_, err = c.Resolve(t.Context(), query(t, "github.com/agentco/a", "= 9.9.9"))
	requireCode(t, err, registry.NoMatchingVersion)
	require.Empty(t, n.To("api.github.com"), "direct is for b alone")
	all := onlyB
	all.Direct = []string{""}
	r, err = client(t, n, registry.Options{Mirror: all}).Resolve(t.Context(), query(t, "github.com/agentco/a", "= 9.9.9"))
	require.NoError(t, err)
	require.Equal(t, "github.com", r.From)
}

// A mirror for some platforms only: the others come directly, where that is allowed.
func TestMirrorMissesThePlatform(t *testing.T) {
	n := registrytest.New(t)
	n.GitHub("github.com").Publish(repo, built("1.0.0"))
	dir := t.TempDir()
	mirrored(t, dir, "github.com/"+repo, built("1.0.0").Without(archiveName))
	for _, constraint := range []string{"", "= 1.0.0"} {
		_, err := client(t, n, registry.Options{Mirror: config.Mirror{Default: dir}}).Resolve(t.Context(), query(t, "github.com/"+repo, constraint))
		requireCode(t, err, registry.NoAsset)
		require.ErrorContains(t, err, "has only part of the release")
		require.ErrorContains(t, err, "needs a direct block")
		require.Empty(t, n.Requests())
		r, err := client(t, n, registry.Options{Mirror: config.Mirror{Default: dir, Direct: []string{""}}}).Resolve(t.Context(), query(t, "github.com/"+repo, constraint))
		require.NoError(t, err)
		require.Equal(t, "github.com", r.From)
		n.Forget()
	}
}

// K18: a mirror that fails is an error that names it; nothing is fetched elsewhere behind one's back.
func TestMirrorFails(t *testing.T) {
	tests := []struct {
		name string
		how  registrytest.Fault
		want string
	}{
		{"500", registrytest.Status(500), "500 Internal Server Error"},
		{"401", registrytest.Status(401), "401 Unauthorized"},
		{"429", registrytest.Status(429), "too many requests"},
		{"silent", registrytest.Hang, "nothing arrived"},
		{"cut", registrytest.Cut(10), "the connection was cut"},
		{"refused", registrytest.Refuse, "the connection was cut"},
		{"no index", registrytest.Headers(200, "<html>"), "it is no index of a mirror"},
		{"a way out", registrytest.Headers(200, `{"versions":{"1.0.0":{"files":["../../etc/passwd"]}}}`), "no plain file name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := registrytest.New(t)
			n.GitHub("github.com").Publish(repo, built("1.0.0"))
			dir := t.TempDir()
			mirrored(t, dir, "github.com/"+repo, built("1.0.0"))
			n.Mirror("mirror.example.org", dir, "")
			n.Break("mirror.example.org", "", -1, tt.how)
			o := registry.Options{Mirror: config.Mirror{Default: "https://mirror.example.org", Direct: []string{""}}}
			if tt.name == "silent" {
				o.StallTimeout = 50 * time.Millisecond
			}
			c := client(t, n, o)
			_, err := c.Resolve(t.Context(), query(t, "github.com/"+repo, ""))
			requireCode(t, err, registry.MirrorFailed)
			require.ErrorContains(t, err, "the mirror https://mirror.example.org failed")
			require.ErrorContains(t, err, tt.want)
			require.Empty(t, n.To("api.github.com"))
		})
	}
}

func TestMirrorFolderFails(t *testing.T) {
	n := registrytest.New(t)
	dir := t.TempDir()
	mirrored(t, dir, "github.com/"+repo, built("1.0.0"))
	folder := filepath.Join(dir, "github.com", "agentco", "provider-x")
	resolve := func(url string) (*registry.Client, *registry.Release, error) {
		c := client(t, n, registry.Options{Mirror: config.Mirror{Default: url, Direct: []string{""}}})
		r, err := c.Resolve(t.Context(), query(t, "github.com/"+repo, ""))
		return c, r, err
	}
	_, _, err := resolve(filepath.Join(dir, "not-mounted"))
	requireCode(t, err, registry.MirrorFailed)

	c, r, err := resolve(dir)
	require.NoError(t, err)
	a, err := r.Archive(linux)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "1.0.0", a.Name), []byte("damaged"), 0o600))
	data, err := download(t, c, a)
	requireCode(t, err, registry.ChecksumMismatch)
	require.Empty(t, data)
	require.NoError(t, os.Remove(filepath.Join(folder, "1.0.0", a.Name)))
	_, err = download(t, c, a)
	requireCode(t, err, registry.NotFound)

	require.NoError(t, os.Remove(filepath.Join(folder, registry.IndexName)))
	require.NoError(t, os.Mkdir(filepath.Join(folder, registry.IndexName), 0o755))
	_, _, err = resolve(dir)
	requireCode(t, err, registry.MirrorFailed)
	require.ErrorContains(t, err, "not a regular file")
	require.Empty(t, n.Requests())
}

func TestMirrorWithoutItsToken(t *testing.T) {
	n := registrytest.New(t)
	m := config.Mirror{Rules: []config.MirrorRule{{Prefix: "github.com", URL: "https://mirror.example.org", AuthEnv: "MIRROR_TOKEN"}}}
	_, err := client(t, n, registry.Options{Mirror: m}).Resolve(t.Context(), query(t, "github.com/"+repo, ""))
	requireCode(t, err, registry.MirrorFailed)
	require.ErrorContains(t, err, "MIRROR_TOKEN is not set")
	require.Empty(t, n.Requests())
}

// The mirror's token is for the mirror alone.
func TestMirrorThatRedirects(t *testing.T) {
	n := registrytest.New(t)
	dir := t.TempDir()
	mirrored(t, dir, "github.com/"+repo, built("1.0.0"))
	n.Mirror("mirror.example.org", dir, token)
	n.Mirror("eu.mirror.example.org", dir, "")
	n.Break("mirror.example.org", "tar.gz", -1, registrytest.Redirect("https://eu.mirror.example.org/github.com/agentco/provider-x/1.0.0/"+archiveName))
	m := config.Mirror{Rules: []config.MirrorRule{{Prefix: "github.com", URL: "https://mirror.example.org", AuthEnv: "MIRROR_TOKEN"}}}
	c := client(t, n, registry.Options{Mirror: m}, "MIRROR_TOKEN="+token)
	r, err := c.Resolve(t.Context(), query(t, "github.com/"+repo, ""))
	require.NoError(t, err)
	a, err := r.Archive(linux)
	require.NoError(t, err)
	_, err = download(t, c, a)
	require.NoError(t, err)
	require.NotEmpty(t, n.To("eu.mirror.example.org"))
	for _, request := range n.To("eu.mirror.example.org") {
		require.Empty(t, request.Authorization())
	}
}

func FuzzParseMirrorIndex(f *testing.F) {
	f.Add([]byte(`{"versions":{"1.2.3":{"files":["a.tar.gz"]}}}`))
	f.Add([]byte(`{"versions":{"1.2.3":{"files":["../a"]},"x":{}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		index, err := registry.ParseMirrorIndex(data)
		if err != nil {
			return
		}
		for _, r := range index.Versions {
			for _, name := range r.Files {
				require.Equal(t, name, filepath.Base(name))
			}
		}
		text, err := index.Marshal()
		require.NoError(t, err)
		again, err := registry.ParseMirrorIndex(text)
		require.NoError(t, err)
		require.Equal(t, index, again)
	})
}
