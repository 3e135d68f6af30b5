package registrytest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/registry"
	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// asProgram makes the test binary a program that resolves one source, as a user's would.
const asProgram = "REGISTRYTEST_SOURCE"

func TestMain(m *testing.M) {
	if source := os.Getenv(asProgram); source != "" {
		os.Exit(resolve(source))
	}
	goleak.VerifyTestMain(m)
}

func resolve(address string) int {
	source, err := config.ParseSource(address)
	if err == nil {
		c := registry.New(registry.Options{})
		defer c.Close()
		var r *registry.Release
		if r, err = c.Pinned(context.Background(), registry.Query{Source: source}, "1.2.3"); err == nil {
			fmt.Print(r.From, " ", r.Version)
			return 0
		}
	}
	fmt.Fprint(os.Stderr, err)
	return 1
}

// A real program reaches the hosts of the test by the proxy and the authority in its environment; without them it
// trusts neither.
func TestEnvOfARealProgram(t *testing.T) {
	n := registrytest.New(t)
	gh := n.GitHub("github.com")
	gh.Token = "token"
	gh.Publish("agentco/provider-x", registrytest.Built("provider-x", "1.2.3", []byte("binary"), registry.Here().String()))
	run := func(env ...string) (string, error) {
		exe, err := os.Executable()
		require.NoError(t, err)
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = append([]string{asProgram + "=github.com/agentco/provider-x", "GITHUB_TOKEN=token"}, env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	env := n.Env()
	out, err := run(env...)
	require.NoError(t, err, out)
	require.Equal(t, "github.com 1.2.3", out)

	n.Forget()
	out, err = run(env[:4]...) // all but SSL_CERT_FILE
	require.Error(t, err)
	require.Contains(t, out, "The certificate is not one that this machine trusts")
	for _, request := range n.Requests() {
		require.Empty(t, request.Authorization())
	}
}

// A dist folder of goreleaser becomes the release that goreleaser would have made.
func TestDist(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	write("metadata.json", `{"project_name":"agent","tag":"v0.0.0","previous_tag":"","version":"1.2.3-next","commit":"0b5ee37","date":"2024-01-02T03:04:05Z","runtime":{"goos":"linux","goarch":"amd64"}}`)
	write("artifacts.json", `[
 {"name":"metadata.json","path":"dist/metadata.json","internal_type":30,"type":"Metadata"},
 {"name":"provider-x","path":"dist/x_linux_amd64_v1/provider-x","goos":"linux","goarch":"amd64","internal_type":4,"type":"Binary","extra":{"Binary":"provider-x"}},
 {"name":"provider-x_1.2.3-next_linux_amd64.tar.gz","path":"dist/provider-x_1.2.3-next_linux_amd64.tar.gz","goos":"linux","goarch":"amd64","internal_type":1,"type":"Archive","extra":{"Format":"tar.gz"}},
 {"name":"checksums.txt","path":"dist/checksums.txt","internal_type":12,"type":"Checksum","extra":{}}]`)
	write("provider-x_1.2.3-next_linux_amd64.tar.gz", "archive")
	write("checksums.txt", "sums")
	r := registrytest.New(t).Dist(dir)
	require.Equal(t, "v1.2.3-next", r.Tag)
	require.True(t, r.Prerelease)
	require.Len(t, r.Assets, 2)
	require.Equal(t, "archive", string(r.Data("provider-x_1.2.3-next_linux_amd64.tar.gz")))
}
