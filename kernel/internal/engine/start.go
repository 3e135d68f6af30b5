package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/agentco/agent/kernel/internal/catalogue"
	"github.com/agentco/agent/kernel/internal/host"
)

// provider is one provider of the engine, whether it runs or not.
type provider struct {
	*host.Provider
	name    string
	timeout time.Duration
}

// open starts the providers, or prepares them where that will do. Of a repeated name only the first is one.
func (e *Engine) open(ctx context.Context, o Options) {
	opened := make([]*host.Provider, len(o.Providers))
	failed := make([]*StartError, len(o.Providers))
	names := map[string]bool{}
	var wait sync.WaitGroup
	e.operations.Store(&[]Operation{})
	for i, s := range o.Providers {
		if names[s.Name] {
			failed[i] = &StartError{Provider: s.Name, Path: s.Path, Stage: StageLaunch, Cause: errors.New("there are two providers of this name: give one of them another")}
			continue
		}
		names[s.Name] = true
		wait.Go(func() {
			var err error
			if opened[i], err = e.openOne(ctx, s, o); err != nil {
				errors.As(err, &failed[i])
			}
		})
	}
	wait.Wait()
	for i, s := range o.Providers {
		if failed[i] != nil {
			e.failed = append(e.failed, failed[i])
			continue
		}
		e.providers = append(e.providers, provider{Provider: opened[i], name: s.Name, timeout: s.Timeout})
	}
	e.list()
}

// openOne starts a provider, unless it may wait for its first call. The error is a *StartError.
func (e *Engine) openOne(ctx context.Context, s ProviderSpec, o Options) (*host.Provider, error) {
	s.Config = e.withhold(s.Config)
	spec := host.Spec{Name: s.Name, Path: s.Path, Checksum: s.Checksum, Dir: e.root, Env: s.Env, Log: e.log, Emit: e.emitted}
	if o.Catalogue == nil {
		return host.Start(ctx, spec, s.Config)
	}
	spec.Changed = func() { o.Catalogue.Forget(s.Path) }
	m := memory{catalogue: o.Catalogue, spec: s}
	known := m.recall()
	said := known
	spec.Introduced = func(i *host.Introduction) {
		said = i
		e.introduced(&m, known, i)
	}
	if o.Lazy && known != nil {
		spec.Known = known
		if p, err := host.Prepare(spec, s.Config); err == nil {
			foretell(p, s.Config)
			return p, nil
		}
		spec.Known, said = nil, nil // what is remembered keeps to another version of the protocol
	}
	p, err := host.Start(ctx, spec, s.Config)
	if o.Lazy && said != nil && configFailed(err) {
		// It is known now, and so it is the same as it will be the next time: the failure is that of the first call.
		spec.Known = said
		return host.Prepare(spec, s.Config)
	}
	return p, err
}

// foretell learns the secrets of a configuration when its provider is not started yet: a call is in the log before that. What
// is wrong with the configuration, the start will tell.
func foretell(p *host.Provider, config host.Configure) {
	if config != nil {
		_, _ = config(p.Info().Config)
	}
}

// configFailed reports whether a provider did not start since its configuration is wrong, and for no other reason.
func configFailed(err error) bool {
	var failed *StartError
	return errors.As(err, &failed) && failed.Misconfigured()
}

// introduced takes note of what a provider says at its first start.
func (e *Engine) introduced(m *memory, known, said *host.Introduction) {
	if said.Equal(known) {
		return
	}
	if known != nil {
		e.log.Info("the provider offers something else than was remembered of it", "provider", m.spec.Name)
	}
	if err := m.keep(said); err != nil {
		e.log.Debug("what the provider offers could not be remembered", "provider", m.spec.Name, "cause", err.Error())
	}
	e.list()
}

// list collects the operations of all providers.
func (e *Engine) list() {
	e.listing.Lock()
	defer e.listing.Unlock()
	operations := []Operation{}
	for _, p := range e.providers {
		operations = append(operations, p.Operations()...)
	}
	sortOperations(operations)
	e.operations.Store(&operations)
}

// memory is what the catalogue knows of one provider.
type memory struct {
	catalogue *catalogue.Catalogue
	spec      ProviderSpec
	binary    catalogue.Binary // of a provider that may be any file
}

// recall returns what the provider says as far as that is remembered; nil when it is not.
func (m *memory) recall() *host.Introduction {
	checksum := m.spec.Checksum
	if checksum == "" {
		var err error
		if m.binary, err = m.catalogue.Identify(m.spec.Path); err != nil {
			return nil // why, its start will tell
		}
		checksum = m.binary.Checksum
	}
	return m.catalogue.Find(checksum)
}

// keep remembers what the process has said, unless it may have been started from another file than was looked at.
func (m *memory) keep(said *host.Introduction) error {
	if m.spec.Checksum != "" {
		return m.catalogue.Keep(m.spec.Checksum, said)
	}
	if m.binary.Checksum == "" || !m.binary.Unchanged() {
		return nil
	}
	return m.catalogue.Keep(m.binary.Checksum, said)
}

// Start starts the named providers, all when none is named, that do not run yet, and returns when each of them is ready for
// calls or has failed. The error is that of Open. When ctx ends, only the wait does.
func (e *Engine) Start(ctx context.Context, names ...string) error {
	failed := make([]error, len(e.providers))
	var wait sync.WaitGroup
	for i, p := range e.providers {
		if len(names) == 0 || slices.Contains(names, p.name) {
			wait.Go(func() { failed[i] = p.Ready(ctx) })
		}
	}
	wait.Wait()
	return errors.Join(failed...)
}

// Warm begins to start all providers that do not run yet, and does not wait for them. A start that fails is told by the
// first call.
func (e *Engine) Warm() {
	for _, p := range e.providers {
		p.Warm()
	}
}

func (e *Engine) startErrors() error {
	var errs []error
	for _, f := range e.failed {
		errs = append(errs, f)
	}
	return errors.Join(errs...)
}

// Failures lists the providers that could not be started, from the error of Open or Start.
func Failures(err error) []*StartError {
	var failed []*StartError
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, err := range joined.Unwrap() {
		var f *StartError
		if errors.As(err, &f) {
			failed = append(failed, f)
		}
	}
	return failed
}
