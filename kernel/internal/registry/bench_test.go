package registry_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/registry"
	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// What a download costs beside what the network does: an archive of 64 MiB from this machine, hashed and written.
func BenchmarkDownload(b *testing.B) {
	const size = 64 << 20
	dir := b.TempDir()
	r := registrytest.Release{Tag: "v1.0.0"}.With(archiveName, bytes.Repeat([]byte("provider"), size/8)).Summed("checksums.txt")
	folder := filepath.Join(dir, "github.com", "agentco", "provider-x")
	require.NoError(b, os.MkdirAll(filepath.Join(folder, "1.0.0"), 0o755))
	for _, a := range r.Assets {
		require.NoError(b, os.WriteFile(filepath.Join(folder, "1.0.0", a.Name), a.Data, 0o600))
	}
	index := `{"versions":{"1.0.0":{"files":["` + archiveName + `","checksums.txt"]}}}`
	require.NoError(b, os.WriteFile(filepath.Join(folder, registry.IndexName), []byte(index), 0o600))
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()

	for name, url := range map[string]string{"http": server.URL, "folder": dir} {
		b.Run(name, func(b *testing.B) {
			c := registry.New(registry.Options{Mirror: config.Mirror{Default: url}})
			defer c.Close()
			source, err := config.ParseSource("github.com/" + repo)
			require.NoError(b, err)
			release, err := c.Resolve(b.Context(), registry.Query{Source: source, Platform: linux})
			require.NoError(b, err)
			a, err := release.Archive(linux)
			require.NoError(b, err)
			f, err := os.Create(filepath.Join(b.TempDir(), "archive"))
			require.NoError(b, err)
			defer f.Close()
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, f.Truncate(0))
				require.NoError(b, c.Download(b.Context(), a, f, nil))
			}
		})
	}
}

// Choosing among the releases of a long life, which is done once for each provider.
func BenchmarkResolveOfManyReleases(b *testing.B) {
	n := registrytest.New(b)
	f := n.GitHub("github.com")
	for i := range 300 {
		f.Publish(repo, built(fmt.Sprintf("1.%d.0", i)))
	}
	source, err := config.ParseSource("github.com/" + repo)
	require.NoError(b, err)
	constraint, err := config.ParseConstraint("~> 1.0")
	require.NoError(b, err)
	transport := n.Transport()
	for b.Loop() {
		c := registry.New(registry.Options{Transport: transport})
		_, err := c.Resolve(b.Context(), registry.Query{Source: source, Constraint: constraint, Platform: linux})
		require.NoError(b, err)
	}
}
