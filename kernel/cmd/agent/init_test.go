package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/registry"
	"github.com/agentco/agent/kernel/internal/registry/registrytest"
)

// The way of a provider from its release to a call, with the agent.hcl of the seeds; then everything from the cache,
// without a request; then a newer version, and back by the lock file.
func TestInit(t *testing.T) {
	m := newMachine(t)
	forge := m.publish(filesystem(t, "2.0.0"), filesystem(t, "2.1.0"))

	r := m.fails(2, "tools")
	require.Contains(t, r.stderr, `Provider "filesystem" is not installed`)
	require.Contains(t, r.stderr, "agent.hcl:2:3")
	require.Contains(t, r.stderr, "Run agent init")

	r = m.must("init")
	require.Regexp(t, `(?m)^│? ?filesystem +│? ?2\.0\.0 .*~> 2\.0\.0 .*the only one that .*github\.com.*sha256 of provider-filesystem_2\.0\.0_checksums\.txt, not signed`, r.stdout)
	require.Contains(t, r.stdout, "wrote .agent/agent.lock.hcl: commit it\n")
	require.Contains(t, r.stderr, "· downloading filesystem (")
	p := m.locked("filesystem")
	require.Equal(t, "2.0.0", p.Version)
	// The first lock records every platform of the release (K01).
	require.Len(t, p.Checksums, 2)
	require.Len(t, p.Programs, 1)

	m.net.Forget()
	first := m.read(lockFile)
	r = m.must("init")
	require.Regexp(t, `filesystem .*2\.0\.0 .*locked .*cache .*the lock file`, r.stdout)
	require.NotContains(t, r.stdout, "wrote")
	require.Equal(t, first, m.read(lockFile))
	m.write("project/hello.txt", "hello from the cache\n")
	r = m.must("invoke", "filesystem.read_file", "path=hello.txt")
	require.Contains(t, r.stdout, "hello from the cache")
	require.Empty(t, m.net.Requests(), "a lock file and a warm cache need nobody (K06)")

	// A newer version is offered, taken, and left again.
	forge.Publish("agentco/provider-filesystem", filesystem(t, "2.0.1"))
	require.Regexp(t, `2\.0\.0 +│? ?~> 2\.0\.0`, m.must("init").stdout, "the lock file decides")
	r = m.must("init", "--upgrade", "--dry-run")
	require.Contains(t, r.stdout, "2.0.0 → 2.0.1")
	require.Contains(t, r.stdout, "nothing was changed: agent init --upgrade does it")
	require.Equal(t, first, m.read(lockFile))
	r = m.must("init", "--upgrade")
	require.Contains(t, r.stdout, "2.0.0 → 2.0.1")
	require.Contains(t, r.stdout, "upgraded from 2.0.0")
	second := m.read(lockFile)
	require.Equal(t, "2.0.1", m.locked("filesystem").Version)
	m.must("tools")

	m.net.Forget()
	m.write(lockFile, first)
	m.must("init")
	m.must("tools")
	require.Equal(t, first, m.read(lockFile))
	m.write(lockFile, second)
	m.must("tools")
	require.Empty(t, m.net.Requests(), "both versions are in the cache")
}

// An upgrade to an older version, since the newer one was taken back, is called by its name.
func TestUpgradeToAnOlderVersion(t *testing.T) {
	m := newMachine(t)
	m.publish(filesystem(t, "2.0.0"), filesystem(t, "2.0.1"))
	m.must("init")
	require.Equal(t, "2.0.1", m.locked("filesystem").Version)
	m.publish(filesystem(t, "2.0.0"))
	require.Contains(t, m.must("init").stdout, "2.0.1", "the lock file decides")
	r := m.must("init", "--upgrade")
	require.Contains(t, r.stdout, "2.0.1 → 2.0.0")
	require.Contains(t, r.stdout, "instead of 2.0.1")
	require.Contains(t, r.stderr, "warning: filesystem: 2.0.1, which was locked, is no longer offered by github.com: 2.0.0 is older")
}

func TestInitJSON(t *testing.T) {
	m := newMachine(t)
	m.publish(filesystem(t, "2.0.0"))
	var answer struct {
		Providers []struct {
			Name, Version, Why, From, Path string
			Verified                       string `json:"verified_by"`
		}
		LockChanged bool `json:"lock_changed"`
	}
	require.NoError(t, json.Unmarshal([]byte(m.must("init", "--json").stdout), &answer))
	require.True(t, answer.LockChanged)
	require.Len(t, answer.Providers, 1)
	require.Equal(t, "github.com", answer.Providers[0].From)
	require.FileExists(t, answer.Providers[0].Path)

	m.net.GitHub("github.com").Publish("agentco/provider-filesystem", filesystem(t, "3.0.0"))
	m.write("project/agent.hcl", strings.Replace(m.read("project/agent.hcl"), "~> 2.0.0", "= 9.0.0", 1))
	var failed struct {
		Error struct{ Kind, Message string }
	}
	require.NoError(t, json.Unmarshal([]byte(m.fails(1, "init", "--json").stdout), &failed))
	require.Equal(t, "no-matching-version", failed.Error.Kind)
}

// Each way to fail is an error of its own, ends with 1 and changes nothing.
func TestInitFails(t *testing.T) {
	good := filesystem(t, "2.0.0")
	archive := "provider-filesystem_2.0.0_" + here + ".tar.gz"
	tests := []struct {
		name    string
		release registrytest.Release
		break_  func(*machine)
		kind    string
		want    []string
	}{
		{"rate limit (K06)", good, func(m *machine) {
			m.net.Break("api.github.com", "", -1, registrytest.Headers(http.StatusForbidden, `{}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "4102444800"))
		}, "rate-limited", []string{"GITHUB_TOKEN", "its limit is over"}},
		{"no repository", registrytest.Release{}, nil, "not-found", []string{"github.com/agentco/provider-filesystem"}},
		{"other platforms only", filesystem(t, "2.0.0", elsewhere), nil, "no-asset", []string{archive, elsewhere}},
		{"mismatch (K01)", good.With(archive, []byte("something else")), nil, "checksum-mismatch", []string{archive}},
		{"no checksum (K04)", good.With("provider-filesystem_2.0.0_checksums.txt", []byte(strings.Repeat("0", 64)+"  compat-"+archive+".old\n")), nil, "no-checksum", []string{archive}},
		{"hostile archive (K09)", registrytest.Built("provider-x", "2.0.0", nil, here), nil, "", nil},
		{"cut, again and again", good, func(m *machine) {
			m.net.Break("storage.api.github.com", archive, -1, registrytest.Refuse)
		}, "unreachable", []string{archive}},
		{"storage says no (K08)", good, func(m *machine) {
			m.net.Break("storage.api.github.com", archive, -1, registrytest.Status(http.StatusForbidden))
		}, "access-denied", []string{archive}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t)
			if tt.release.Tag != "" {
				if tt.kind == "" { // the archive of another provider, under this name, with its own checksum
					inside := tt.release.Assets[0].Data
					tt.release, tt.kind, tt.want = good.With(archive, inside).Summed("provider-filesystem_2.0.0_checksums.txt"), "no-binary", []string{"no program named provider-filesystem, only provider-x"}
				}
				m.publish(tt.release)
			} else {
				m.net.GitHub("github.com")
			}
			if tt.break_ != nil {
				tt.break_(m)
			}
			r := m.fails(1, "init", "--json")
			var failed struct {
				Error struct{ Kind, Message string }
			}
			require.NoError(t, json.Unmarshal([]byte(r.stdout), &failed), r.stdout)
			require.Equal(t, tt.kind, failed.Error.Kind, failed.Error.Message)
			for _, want := range tt.want {
				require.Contains(t, failed.Error.Message, want)
			}
			require.NoFileExists(t, m.path(lockFile))
		})
	}
}

// A lock made elsewhere knows all platforms of its release; one that does not says how to add this one (K01).
func TestPlatforms(t *testing.T) {
	m := newMachine(t)
	release := filesystem(t, "2.0.0")
	m.publish(release)
	m.must("init")
	whole := m.read(lockFile)
	require.Contains(t, whole, elsewhere)

	m.write(lockFile, strings.ReplaceAll(whole, here+" ", "solaris_amd64 "))
	r := m.fails(1, "init")
	require.Contains(t, r.stderr, "no checksum for "+here+", only for "+elsewhere+", solaris_amd64")
	require.Contains(t, r.stderr, "agent providers lock --platform "+here)
	r = m.fails(2, "tools")
	require.Contains(t, r.stderr, "agent providers lock --platform "+here)

	m.must("providers", "lock", "--platform", here)
	p := m.locked("filesystem")
	require.Len(t, p.Checksums, 3, "it adds and does not replace")
	require.Contains(t, p.Programs, registry.Here())
	m.must("init")
	m.must("tools")

	// The programs of other platforms can be locked too, so that their first init does not change the file.
	m.must("providers", "lock", "--platform", elsewhere)
	require.Len(t, m.locked("filesystem").Programs, len(p.Programs)+1)
	require.Equal(t, p.Checksums, m.locked("filesystem").Checksums)

	// A release that changed is no other platform.
	m.write(lockFile, strings.ReplaceAll(m.read(lockFile), string(m.locked("filesystem").Checksums[registry.Here()]), strings.Repeat("0", 64)))
	r = m.fails(1, "init")
	require.Contains(t, r.stderr, "expected sha256:"+strings.Repeat("0", 64)+", as the lock file says, got sha256:")
}

// A lock file for machines that are not this one, before anything is installed here.
func TestLockAhead(t *testing.T) {
	m := newMachine(t)
	m.publish(filesystem(t, "2.0.0", here, elsewhere, "windows_amd64"))
	r := m.must("providers", "lock", "--platform", "windows_amd64", "--platform", elsewhere, "--json")
	require.Contains(t, r.stdout, `"lock_changed":true`)
	p := m.locked("filesystem")
	require.Len(t, p.Checksums, 3)
	require.Len(t, p.Programs, 2)
	m.net.Forget()
	m.must("providers", "lock", "--platform", "windows_amd64")
	require.Empty(t, m.net.Requests(), "it is locked already")
	_, err := os.Stat(m.path("cache/agent/providers"))
	require.ErrorIs(t, err, fs.ErrNotExist, "nothing is installed")
	left, err := filepath.Glob(m.path("cache/agent/downloads/*"))
	require.NoError(t, err)
	require.Empty(t, left)

	m.must("init")
	require.Len(t, m.locked("filesystem").Programs, 3)
	require.Equal(t, p.ResolvedAt, m.locked("filesystem").ResolvedAt)
	require.Contains(t, m.fails(1, "providers", "lock", "--platform", "solaris_amd64").stderr, "It is released for")
	require.Contains(t, m.fails(2, "providers", "lock", "--platform", "solaris").stderr, "is not a platform")
	require.Contains(t, m.fails(2, "providers", "lock", "nonesuch").stderr, "no provider \"nonesuch\"")
}

// The agent.hcl of both seeds, in one project.
func TestInitSeeds(t *testing.T) {
	m := newMachine(t)
	forge := m.publish(filesystem(t, "2.0.0"))
	forge.Publish("agentco/provider-release-tools", registrytest.Built("provider-release-tools", "1.0.3", binary(t, "release-tools"), here))
	m.write("project/agent.hcl", `required_providers {
  filesystem = {
    source  = "github.com/agentco/provider-filesystem"
    version = "~> 2.0.0"
  }
  release-tools = {
    source  = "github.com/agentco/provider-release-tools"
    version = "~> 1.0.0"
  }
}

provider "filesystem" {
  allowed_roots = ["${path.root}"]
}

provider "release-tools" {
  changelog_path = "CHANGELOG.md"
}
`)
	m.write("project/CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Add slashcommand.v1 category\n")
	m.must("init")
	require.Contains(t, m.must("run", "/changelog").stdout, "Add slashcommand.v1 category")
	require.Contains(t, m.must("invoke", "filesystem.read_file", "path=CHANGELOG.md").stdout, "Unreleased")
}

// A provider with an override is neither asked for nor locked, and what is locked of it stays (K03).
func TestInitWithOverrides(t *testing.T) {
	m := newMachine(t)
	m.publish(filesystem(t, "2.0.0"))
	m.write("project/agent.hcl", `required_providers {
  filesystem = { source = "github.com/agentco/provider-filesystem" }
  bash       = { source = "unpublished.example/nobody/provider-bash", version = "= 7.0.0" }
}
provider "filesystem" {
  allowed_roots = [path.root]
}
`)
	override := func(path string) {
		m.write("config/agent/config.hcl", fmt.Sprintf("dev_overrides {\n  bash = %q\n}\n", path))
	}
	override(filepath.Join(binaries, "provider-bash"))
	r := m.must("init")
	require.Equal(t, 1, strings.Count(r.stderr, "warning:"), r.stderr)
	require.Contains(t, r.stderr, "bash = "+filepath.Join(binaries, "provider-bash"))
	require.Regexp(t, `bash .*dev_overrides .*nothing`, r.stdout)
	require.Empty(t, m.net.To("unpublished.example"))
	require.NotContains(t, m.read(lockFile), "bash")
	require.Contains(t, m.must("tools").stdout, "bash.bash")
	m.must("invoke", "bash.bash", "command=true", "--yes")

	text := m.read(lockFile)
	locked := text + strings.NewReplacer(`"filesystem"`, `"bash"`).Replace(text[strings.Index(text, "\nprovider"):])
	m.write(lockFile, locked)
	m.must("init", "--upgrade")
	require.Equal(t, "2.0.0", m.locked("bash").Version, "what was locked before the override stays")

	// To lock or to copy, an override has nothing.
	m.write("project/agent.hcl", strings.ReplaceAll(m.read("project/agent.hcl"), "  filesystem = {", "  # filesystem = {"))
	m.write("project/agent.hcl", m.read("project/agent.hcl")[:strings.Index(m.read("project/agent.hcl"), "provider \"filesystem\"")])
	for _, args := range [][]string{{"providers", "lock"}, {"providers", "mirror", m.path("mirror")}} {
		r = m.must(args...)
		require.Empty(t, r.stdout)
		require.Contains(t, r.stderr, "left out: bash, which dev_overrides of ")
	}

	override("/no/such/provider-bash")
	r = m.fails(1, "init")
	require.Contains(t, r.stderr, "/no/such/provider-bash")
	require.Contains(t, r.stderr, "config.hcl:2")
	require.NotContains(t, r.stderr, "unpublished.example")
	override(m.path("project/agent.hcl"))
	require.Contains(t, m.fails(1, "init").stderr, "its mode is -rw-r--r--")
}

// A mirror that misses one provider (K18).
func TestMirrorWithGaps(t *testing.T) {
	m := newMachine(t)
	m.publish(filesystem(t, "2.0.0"))
	m.must("init")
	m.must("providers", "mirror", "../mirror", "--platform", here)
	forge := m.net.GitHub("github.com")
	forge.Publish("agentco/provider-filesystem", filesystem(t, "2.0.0"))
	forge.Publish("agentco/agent", registrytest.Built("provider-bash", "1.0.0", binary(t, "bash"), here))
	address := m.net.LoopbackMirror(m.path("mirror"), "")
	m.write("project/agent.hcl", `required_providers {
  filesystem = { source = "github.com/agentco/provider-filesystem" }
  bash       = { source = "github.com/agentco/agent//provider-bash" }
}
provider "filesystem" {
  allowed_roots = [path.root]
}
`)
	fresh := func(direct string) {
		require.NoError(t, os.RemoveAll(m.path("cache")))
		require.NoError(t, os.RemoveAll(m.path("project/.agent")))
		m.write("config/agent/config.hcl", fmt.Sprintf("registry_mirror {\n  default = %q\n%s}\n", address, direct))
		m.net.Forget()
	}
	fresh("")
	r := m.fails(1, "init")
	require.Contains(t, r.stderr, "bash")
	require.Contains(t, r.stderr, "direct block")
	require.Empty(t, m.net.To("api.github.com"), "the forge is not asked without a direct block")

	fresh("  direct {\n    prefix = \"github.com/agentco/agent\"\n  }\n")
	r = m.must("init")
	require.Regexp(t, `filesystem .*http://127\.0\.0\.1:`, r.stdout)
	require.Regexp(t, `bash .*github\.com`, r.stdout)
	for _, request := range m.net.To("api.github.com") {
		require.NotContains(t, request.Path, "provider-filesystem")
	}
	require.Equal(t, "2.0.0", m.locked("filesystem").Version)

	fresh("  direct {\n    prefix = \"github.com/agentco/agent\"\n  }\n")
	m.net.Break(strings.TrimPrefix(address, "http://"), "provider-filesystem/index.json", -1, registrytest.Status(http.StatusInternalServerError))
	r = m.fails(1, "init")
	require.Contains(t, r.stderr, address)
	require.Contains(t, r.stderr, "500")
	m.net.Repair()

	// Whatever the mirror serves is held to the lock file.
	m.must("init")
	require.NoError(t, os.RemoveAll(m.path("cache")))
	archives, err := filepath.Glob(m.path("mirror/github.com/agentco/provider-filesystem/2.0.0/*.tar.gz"))
	require.NoError(t, err)
	require.Len(t, archives, 1)
	evil := registrytest.Built("provider-filesystem", "2.0.0", []byte("evil"), here)
	for _, asset := range evil.Assets {
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(archives[0]), asset.Name), asset.Data, 0o644))
	}
	r = m.fails(1, "init")
	require.Contains(t, r.stderr, "as the lock file says")
}
