package conformance_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// offline is what npm says when it cannot reach its registry.
var offline = regexp.MustCompile(`\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|E403|E5\d\d)\b`)

// installNode copies the provider with the protocol's files and installs its packages there. It gives the path of the
// executable.
func installNode(t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s on this machine, which the provider of examples/node-provider needs", tool)
		}
	}
	root := t.TempDir()
	copyTree(t, "../proto", filepath.Join(root, "proto"))
	dir := filepath.Join(root, "examples/node-provider")
	copyTree(t, "../examples/node-provider", dir)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=0")
	npm.Dir = dir
	out, err := npm.CombinedOutput()
	if err != nil && (offline.Match(out) || ctx.Err() != nil) {
		t.Skipf("the packages of examples/node-provider cannot be installed here: %v\n%s", err, out)
	}
	require.NoError(t, err, "npm ci: %s", out)
	return filepath.Join(dir, "provider")
}

// copyTree copies a folder without what belongs to one machine or to another language.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		if strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, info.Mode())
	}))
}
