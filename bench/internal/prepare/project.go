package prepare

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
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

const sandboxedHCL = `required_providers {
  bash = { source = "github.com/agentco/agent//provider-bash" }
}

provider "bash" {
  sandbox = "landlock"
}
`

const committingHCL = `required_providers {
  release-tools = { source = "github.com/agentco/agent//provider-release-tools" }
}

provider "release-tools" {
  commit = true
}
`

func (p *Place) sandboxed() string { return filepath.Join(p.Root, "home", "sandboxed") }

// project writes agent.hcl beside the inputs and in a folder for what is confined, and a config.hcl that names our binaries.
func (p *Place) project() error {
	var overrides strings.Builder
	for _, name := range []string{"filesystem", "bash", "release-tools"} {
		fmt.Fprintf(&overrides, "  %s = %q\n", name, filepath.Join(p.Bin(), "provider-"+name))
	}
	for path, text := range map[string]string{
		filepath.Join(p.Inputs(), "agent.hcl"):                         agentHCL,
		filepath.Join(p.sandboxed(), "agent.hcl"):                      sandboxedHCL,
		filepath.Join(p.Root, "home", "committing", "agent.hcl"):       committingHCL,
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

// Remember has agent know its providers, as after the first run in a project. Where commands cannot be confined the project
// for that is removed, so that its subject is skipped.
func (p *Place) Remember(ctx context.Context, env []string) error {
	if err := p.settle(ctx); err != nil {
		return err
	}
	agent := func(dir string, args ...string) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, filepath.Join(p.Bin(), "agent"), args...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, time.Second
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("agent %s: %w: %s", args[0], err, out)
		}
		return nil
	}
	if err := agent(p.sandboxed(), "invoke", "bash.bash", "command=true", "--yes"); err != nil {
		p.Say("commands cannot be confined here: " + err.Error())
		if err := os.Remove(filepath.Join(p.sandboxed(), "agent.hcl")); err != nil {
			return err
		}
	}
	return agent(p.Inputs(), "tools")
}

// settled is how old a binary is that agent does not read anew at each start: what was written just now may be written again.
const settled = 4 * time.Second

// settle waits until our binaries are as old as those that somebody has installed.
func (p *Place) settle(ctx context.Context) error {
	var newest time.Time
	for _, b := range ours {
		if info, err := os.Stat(filepath.Join(p.Bin(), b.name)); err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	select {
	case <-time.After(time.Until(newest.Add(settled))):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// settings are those of peers that need some: no telemetry, no limits of lines.
func (p *Place) settings() error {
	for path, text := range map[string]string{
		".claude-server-commander/config.json": fmt.Sprintf(
			`{"telemetryEnabled": false, "fileReadLineLimit": 100000000, "fileWriteLineLimit": 100000000, "allowedDirectories": [%q]}`+"\n", p.Inputs()),
		".codex/config.toml": "check_for_update_on_startup = false\n\n[analytics]\nenabled = false\n",
	} {
		path = filepath.Join(p.Root, "home", path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
