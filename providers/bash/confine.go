package main

import (
	"os"
	"slices"
	"strings"

	"github.com/agentco/agent/providers/bash/internal/environ"
	"github.com/agentco/agent/providers/bash/internal/sandbox"
	"github.com/agentco/agent/sdk"
)

// openSandbox makes the policy for commands and tries it, so that a provider that starts
// has what it was asked for.
func (c *config) openSandbox() error {
	field := "sandbox"
	switch c.Sandbox {
	case "off":
	case "landlock":
		policy, err := sandbox.Confine(c.writable()...)
		if err != nil {
			return sdk.BadField(field, "open what commands may write to: %w", err)
		}
		c.sandbox = policy
	default:
		return sdk.BadField(field, "%q is not known; write off or landlock", c.Sandbox)
	}
	if !c.Network {
		c.sandbox = c.sandbox.Offline()
		if c.Sandbox == "off" {
			field = "network"
		}
	}
	if err := c.sandbox.Check(); err != nil {
		return sdk.BadField(field, "commands cannot be confined here: %w; nothing was started, remove the attribute to run them without limits", err)
	}
	return nil
}

// writable are the directories that confined commands may change: the roots, and where
// they keep temporary files, if there is such a place.
func (c *config) writable() []string { return append(c.roots.Names(), c.temporaries()...) }

// temporaries is where commands keep temporary files, if there is such a place, and if
// that is not everywhere.
func (c *config) temporaries() []string {
	temporary := c.temporary()
	info, err := os.Stat(temporary)
	if err != nil || !info.IsDir() {
		return nil
	}
	if top, err := os.Stat("/"); err != nil || os.SameFile(top, info) {
		return nil
	}
	return []string{temporary}
}

// temporary is TMPDIR of a command, or what programs take without it.
func (c *config) temporary() string {
	const name = "TMPDIR="
	vars := environ.Build(os.Environ(), c.EnvAllow, c.Env, "/")
	if i := slices.IndexFunc(vars, func(v string) bool { return strings.HasPrefix(v, name) && v != name }); i >= 0 {
		return strings.TrimPrefix(vars[i], name)
	}
	return "/tmp"
}
