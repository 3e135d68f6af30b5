package install

import (
	"fmt"

	"github.com/hashicorp/go-version"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/lock"
	"github.com/agentco/agent/kernel/internal/signature"
)

// Want is a provider that a project requires.
type Want struct {
	// Name as in required_providers.
	Name       string
	Source     config.Source
	Constraint config.Constraint
	// Key must have signed the release; nil asks for no signature.
	Key signature.Key
}

// WantOf is what an entry of required_providers asks for.
func WantOf(p *config.Provider) Want {
	return Want{Name: p.Name, Source: p.Source, Constraint: p.Version, Key: p.PublicKey}
}

// Outdated says why what is locked is not what is wanted; empty when it is.
func (w Want) Outdated(locked lock.Provider) string {
	if locked.Source != w.Source {
		return fmt.Sprintf("the lock file has it from %s, and agent.hcl wants it from %s", locked.Source, w.Source)
	}
	v, err := version.NewVersion(locked.Version)
	if err != nil || !w.Constraint.Allows(v) {
		return fmt.Sprintf("the lock file has version %s, which %q does not allow", locked.Version, w.Constraint)
	}
	return ""
}

// Unsigned says why the signature that is wanted was not verified for what is locked; empty when it was, or none is.
func (w Want) Unsigned(locked lock.Provider) string {
	switch {
	case w.Key == nil || locked.SignedBy == w.Key.String():
		return ""
	case locked.SignedBy == "":
		return fmt.Sprintf("it was locked without the signature by %s that agent.hcl asks for", w.Key)
	default:
		return fmt.Sprintf("it was locked with a signature by %s, and agent.hcl asks for one by %s", locked.SignedBy, w.Key)
	}
}

// OutdatedError is a lock file that does not fit agent.hcl, where it must not be changed.
type OutdatedError struct {
	// Name of the provider.
	Name   string
	Reason string
}

func (e *OutdatedError) Error() string {
	return fmt.Sprintf("provider %q: %s", e.Name, e.Reason)
}

// Kind is lock-outdated.
func (e *OutdatedError) Kind() string { return "lock-outdated" }
