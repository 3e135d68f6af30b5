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

// npm installs the packages that are not there in their versions, each by itself, so that one that cannot be had leaves the
// others: it says which those are, and why. No script of a package is run: some download browsers.
func (p *Place) npm(ctx context.Context, packages []string, refused map[string]string) error {
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
	for _, spec := range packages {
		at := strings.LastIndexByte(spec, '@')
		if name, version := spec[:at], spec[at+1:]; installed(filepath.Join(dir, "node_modules", name)) == version {
			continue
		}
		p.Say("installing " + spec)
		err := tried(ctx, dir, nil, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", spec)
		if err != nil {
			refused[spec] = err.Error()
		}
	}
	return nil
}

// modules installs commands from the Go module proxy, as npm does packages.
func (p *Place) modules(ctx context.Context, modules []string, refused map[string]string) {
	for _, spec := range modules {
		p.Say("installing " + spec)
		if err := tried(ctx, p.Root, []string{"GOBIN=" + p.Bin(), "GOWORK=off", "CGO_ENABLED=0"}, "go", "install", spec); err != nil {
			refused[spec] = err.Error()
		}
	}
}

// tried runs an installer. Its error is the last line of what it says, which is why it failed.
func tried(ctx context.Context, dir string, env []string, argv ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(os.Environ(), env...), 5*time.Second
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return fmt.Errorf("%.200s", last)
	}
	return err
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
