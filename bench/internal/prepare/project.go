package prepare

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The policy decides changes, as in a project. A result may be as long as it can be: peers have their limits lifted, too.
const agentHCL = `required_providers {
  filesystem    = { source = "github.com/agentco/agent//provider-filesystem" }
  bash          = { source = "github.com/agentco/agent//provider-bash" }
  release-tools = { source = "github.com/agentco/agent//provider-release-tools" }
}

provider "filesystem" {
  allowed_roots    = [path.root]
  max_result_bytes = 1048576
}

provider "bash" {
  allowed_roots = [path.root]
}

policy "edits are fine" {
  match  = { provider = "filesystem", kind = "resource" }
  action = "allow"
}
`

// project writes agent.hcl beside the inputs, and a config.hcl that names our binaries.
func (p *Place) project(ctx context.Context) error {
	var overrides strings.Builder
	for _, name := range []string{"filesystem", "bash", "release-tools"} {
		fmt.Fprintf(&overrides, "  %s = %q\n", name, filepath.Join(p.Bin(), "provider-"+name))
	}
	for path, text := range map[string]string{
		filepath.Join(p.Inputs(), "agent.hcl"):                         agentHCL,
		filepath.Join(p.Root, "home", "config", "agent", "config.hcl"): "dev_overrides {\n" + overrides.String() + "}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Remember has agent know its providers, as after the first run in a project.
func (p *Place) Remember(ctx context.Context, env []string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(p.Bin(), "agent"), "tools")
	cmd.Dir, cmd.Env = p.Inputs(), append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("agent tools: %w: %s", err, out)
	}
	return nil
}

// settings are those of peers that need some: no telemetry, no limits of lines.
func (p *Place) settings() error {
	dir := filepath.Join(p.Root, "home", ".claude-server-commander")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "config.json"), []byte(
		`{"telemetryEnabled": false, "fileReadLineLimit": 100000000, "fileWriteLineLimit": 100000000}`+"\n"), 0o644)
}
