package cli

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/install"
	"github.com/agentco/agent/kernel/internal/lock"
	"github.com/agentco/agent/kernel/internal/registry"
	"github.com/agentco/agent/kernel/internal/schema"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
)

// specs says how to start the named providers; all of them when none is named. A provider is the binary that the user's
// configuration names, or the installed one that the lock file vouches for.
func (p *project) specs(names ...string) ([]engine.ProviderSpec, error) {
	var specs []engine.ProviderSpec
	var missing []error
	for _, pr := range p.Providers {
		if len(names) > 0 && !slices.Contains(names, pr.Name) {
			continue
		}
		spec := engine.ProviderSpec{
			Name: pr.Name, Timeout: p.Settings.CallTimeout,
			Config: func(s *configv1.ConfigSchema) (*structpb.Struct, error) { return pr.Decode(s) },
		}
		var overridden bool
		if spec.Path, overridden = p.global.DevOverrides[pr.Name]; !overridden {
			var err error
			if spec.Path, spec.Checksum, err = p.installed(pr); err != nil {
				missing = append(missing, err)
				continue
			}
		}
		specs = append(specs, spec)
	}
	if len(missing) > 0 {
		return nil, errors.Join(missing...)
	}
	return specs, nil
}

// installed finds a provider in the cache, and what its program must hash to.
func (p *project) installed(pr *config.Provider) (path, checksum string, err error) {
	file, err := p.lockFile()
	if err != nil {
		return "", "", err
	}
	locked, ok := file.Provider(pr.Name)
	if !ok {
		return "", "", p.notInstalled(pr, "It is not in "+p.lockShown()+".")
	}
	want := install.WantOf(pr)
	for _, why := range []string{want.Outdated(locked), want.Unsigned(locked)} {
		if why != "" {
			return "", "", p.outdated(&install.OutdatedError{Name: pr.Name, Reason: why})
		}
	}
	here := registry.Here()
	key, ok := install.KeyOf(locked, here)
	if !ok {
		return "", "", p.notInstalled(pr, fmt.Sprintf("%s:%d locks it for other platforms than %s: agent providers lock --platform %s adds this one.", p.lockShown(), locked.Line(), here, here))
	}
	cache := install.UserCache()
	if !cache.Installed(key) {
		return "", "", p.notInstalled(pr, fmt.Sprintf("Version %s, which is locked, is not on this machine.", locked.Version))
	}
	program, known := locked.Programs[here]
	if !known {
		if program, err = cache.Program(key); err != nil {
			return "", "", p.notInstalled(pr, "The installed copy cannot be verified: "+err.Error()+".")
		}
	}
	return cache.Path(key), string(program), nil
}

// lockedPath is where the locked version of a provider is, or would be; empty when none is locked for this platform.
func (p *project) lockedPath(pr *config.Provider) (path, version string) {
	file, err := p.lockFile()
	if err != nil {
		return "", ""
	}
	locked, _ := file.Provider(pr.Name)
	key, ok := install.KeyOf(locked, registry.Here())
	if !ok {
		return "", locked.Version
	}
	return install.UserCache().Path(key), locked.Version
}

func (p *project) notInstalled(pr *config.Provider, why string) error {
	return &problem{"not-installed", pr.Errorf("Provider \""+pr.Name+"\" is not installed",
		"%s Run agent init; or name a build of your own in %s: %s.%s", why, p.short(p.global.File), overrideCommand([]string{pr.Name}), p.misnamed(pr.Name))}
}

// misnamed says that dev_overrides has no provider of this name, but one that may be meant for it.
func (p *project) misnamed(name string) string {
	var others []string
	for other := range p.global.DevOverrides {
		if p.Provider(other) == nil {
			others = append(others, other)
		}
	}
	slices.Sort(others)
	near := schema.Nearest(name, others)
	if near == "" {
		return ""
	}
	return fmt.Sprintf(" %s:%d names one for %q, which is not required here: is it meant for %q?", p.short(p.global.File), p.global.OverrideLine(near), near, name)
}

// lockFile reads the lock file, once.
func (p *project) lockFile() (*lock.File, error) {
	if p.locked != nil {
		return p.locked, nil
	}
	file, err := lock.Read(lock.Path(p.Root), p.lockShown())
	if err == nil {
		p.locked = file
	}
	return file, err
}

func (p *project) lockShown() string { return shown(p.cwd, lock.Path(p.Root)) }

// outdated shows at its entry in agent.hcl why the lock file does not fit.
func (p *project) outdated(e *install.OutdatedError) error {
	return &problem{e.Kind(), p.Provider(e.Name).Errorf("Provider \""+e.Name+"\" is not as locked",
		"For it, %s. Run agent init to lock it anew, and commit %s.", e.Reason, p.lockShown())}
}

// problem is one of agent.hcl, with a name that scripts can rely on.
type problem struct {
	kind  string
	files config.Diagnostics
}

func (p *problem) Error() string { return p.files.Error() }
func (p *problem) Unwrap() error { return p.files }

// Kind is the name.
func (p *problem) Kind() string { return p.kind }

// kindOf is the name of the first error that has one; empty when none has.
func kindOf(err error) string {
	var named interface{ Kind() string }
	if errors.As(err, &named) {
		return named.Kind()
	}
	return string(registry.CodeOf(err))
}
