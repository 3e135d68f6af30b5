package prepare

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Quick are the npm packages of a quick run, and All those of a whole one, by pinned versions.
var (
	Quick = []string{
		"@modelcontextprotocol/server-filesystem@2026.8.31",
		"fast-filesystem-mcp@3.5.2",
		"mcp-server-commands@0.5.0",
	}
	All = append([]string{
		"@agent-infra/mcp-server-filesystem@1.2.29",
		"@agent-infra/mcp-server-commands@1.2.18",
		"@wonderwhy-er/desktop-commander@0.2.52",
		"@anthropic-ai/sandbox-runtime@0.0.78",
		"git-cliff@2.14.2",
	}, Quick...)
)

// install installs the packages that are not there in their versions, each by itself, so that one that cannot be had
// leaves the others. No script of a package is run: some download browsers.
func (p *Place) install(ctx context.Context, packages []string) error {
	dir := filepath.Join(p.Root, "npm")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	own := filepath.Join(dir, "package.json")
	if _, err := os.Stat(own); err != nil {
		if err := os.WriteFile(own, []byte(`{"private":true}`), 0o644); err != nil {
			return err
		}
	}
	var missing []string
	for _, spec := range packages {
		at := strings.LastIndexByte(spec, '@')
		if name, version := spec[:at], spec[at+1:]; installed(filepath.Join(dir, "node_modules", name)) != version {
			missing = append(missing, spec)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return fmt.Errorf("peers of npm are skipped: %w", err)
	}
	var failed []string
	for _, spec := range missing {
		p.Say("installing " + spec)
		ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
		cmd := exec.CommandContext(ctx, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", spec)
		cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
		out, err := cmd.CombinedOutput()
		cancel()
		if err != nil {
			failed = append(failed, fmt.Sprintf("%s cannot be installed: %v: %.200s", spec, err, out))
		}
	}
	if failed != nil {
		return fmt.Errorf("%s", strings.Join(failed, "\n"))
	}
	return nil
}

// installed is the version of an installed package; empty when there is none.
func installed(dir string) string {
	var manifest struct{ Version string }
	b, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil || json.Unmarshal(b, &manifest) != nil {
		return ""
	}
	return manifest.Version
}
