package registry_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/registry"
	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	repo  = "agentco/provider-x"
	token = "token-that-stays-secret"
)

var linux = registry.Platform{OS: "linux", Arch: "amd64"}

// binary stands for one: nothing here runs it.
var binary = []byte(strings.Repeat("a provider ", 100_000))

func built(version string) registrytest.Release {
	return registrytest.Built("provider-x", version, []byte("provider-x "+version), "linux_amd64", "darwin_arm64", "windows_amd64")
}

// client is one that does not wait long between attempts.
func client(t *testing.T, n *registrytest.Net, o registry.Options, env ...string) *registry.Client {
	t.Helper()
	if o.Transport == nil {
		o.Transport = n.Transport()
	}
	o.RetryDelay = time.Millisecond
	o.LookupEnv = func(name string) (string, bool) {
		for _, pair := range env {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
	c := registry.New(o)
	t.Cleanup(c.Close)
	return c
}

// patiently has something tried with more and more patience, as a slow machine needs more than one likes to wait for.
func patiently(t *testing.T, least time.Duration, try func(patience time.Duration) (worked bool)) {
	t.Helper()
	for patience := least; !try(patience); patience *= 2 {
		require.Less(t, patience, 30*time.Second, "it never did what it should")
	}
}

func query(t *testing.T, source, constraint string) registry.Query {
	t.Helper()
	s, err := config.ParseSource(source)
	require.NoError(t, err)
	q := registry.Query{Source: s, Platform: linux}
	if constraint != "" {
		q.Constraint, err = config.ParseConstraint(constraint)
		require.NoError(t, err)
	}
	return q
}

// requireCode also holds every error to what errors owe: no secret, and not the query of a signed address.
func requireCode(t *testing.T, err error, code registry.Code) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, code, registry.CodeOf(err), err.Error())
	require.NotContains(t, err.Error(), token)
	require.NotContains(t, err.Error(), registrytest.Signature)
	require.NotContains(t, err.Error(), "X-Amz")
}

// download fetches an archive into a new file, whose content it returns.
func download(t *testing.T, c *registry.Client, a registry.Asset) ([]byte, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "archive")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	err = c.Download(t.Context(), a, f, nil)
	data, readErr := os.ReadFile(path)
	require.NoError(t, readErr)
	return data, err
}
