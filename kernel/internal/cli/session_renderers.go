package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/install"
	"github.com/agentco/agent/kernel/internal/registry"
	"github.com/agentco/agent/kernel/internal/session"
	"github.com/agentco/agent/kernel/internal/session/history"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
)

// renderers are the providers that can show again what they have once returned, each started when it is first needed, and
// only in the version that has returned it. They are asked for renderings and for nothing else.
type renderers struct {
	app     *app
	project *project // nil when there is none
	started map[string]*engine.Engine
	// missing says what would have to be there to show all results as they were.
	missing []string
}

// renderers looks for providers where the session was, or else where the command is run.
func (a *app) renderers(m session.Meta) *renderers {
	r := &renderers{app: a, started: map[string]*engine.Engine{}}
	if _, err := os.Stat(filepath.Join(m.Project, config.FileName)); m.Project != "" && err == nil {
		_ = os.Chdir(m.Project) // where that fails, here is the next best place
	}
	p, err := a.read()
	var none *config.NoProjectError
	switch {
	case err == nil:
		r.project = p
	case !errors.As(err, &none):
		r.missing = append(r.missing, fmt.Sprintf("results are shown as they are kept, since the project cannot be read: %v", err))
	}
	return r
}

func (r *renderers) close() {
	for _, e := range r.started {
		if e != nil {
			e.Close()
		}
	}
}

// render asks the provider that has returned a result to show it. It is nil when that version is not there, or has
// nothing to show.
func (r *renderers) render(ctx context.Context, c *history.Call) *renderv1.RenderTree {
	if c.Result == nil || c.Tool == "" {
		return nil
	}
	key := c.Producer.Name + " " + c.Producer.Version
	e, known := r.started[key]
	if !known {
		var why string
		if e, why = r.start(ctx, c.Producer); e == nil {
			r.missing = append(r.missing, fmt.Sprintf("results of %s are shown as they are kept: %s", strings.TrimSpace(key), why))
		}
		r.started[key] = e
	}
	if e == nil {
		return nil
	}
	op := engine.Operation{Provider: c.Producer.Name, Name: c.Tool, Category: commonv1.Category_CATEGORY_TOOL}
	if c.Producer.Category == "slashcommand" {
		op.Category = commonv1.Category_CATEGORY_SLASHCOMMAND
	}
	return e.RenderPart(ctx, op, c.Result)
}

// start starts a provider in a version; why says what is in the way.
func (r *renderers) start(ctx context.Context, p session.Producer) (e *engine.Engine, why string) {
	if r.project == nil || r.project.Provider(p.Name) == nil {
		return nil, fmt.Sprintf("no project here requires the provider. Run this where one does, in version %s, after 'agent init'", p.Version)
	}
	specs, err := r.specs(p)
	if err != nil {
		return nil, err.Error()
	}
	log, err := r.app.logger(r.project.Settings.LogLevel)
	if err != nil {
		return nil, err.Error()
	}
	e, err = engine.Open(ctx, engine.Options{
		Providers: specs, ProjectRoot: r.project.Root, WorkingDir: r.project.cwd, Log: log, Secrets: r.app.secrets,
	})
	if err != nil {
		if e != nil {
			e.Close()
		}
		return nil, err.Error()
	}
	if here, ok := versionOf(e, p); !ok || here != p.Version {
		e.Close()
		return nil, fmt.Sprintf("version %s is there instead. Set version = %q for it in agent.hcl and run 'agent init --upgrade' to see them as they were", orDash(here), p.Version)
	}
	return e, ""
}

// specs prefers the installed copy of the version, which may be another than the project uses by now.
func (r *renderers) specs(p session.Producer) ([]engine.ProviderSpec, error) {
	pr, cache := r.project.Provider(p.Name), install.UserCache()
	all, _ := cache.All() // without it there is still the one that the project uses
	for _, there := range all {
		if there.Source != pr.Source || there.Version != p.Version || there.Platform != registry.Here() {
			continue
		}
		program, err := cache.Program(there.Key)
		if err != nil {
			continue // what cannot be verified is not run
		}
		return []engine.ProviderSpec{{
			Name: p.Name, Path: cache.Path(there.Key), Checksum: string(program),
			Config: func(s *configv1.ConfigSchema) (*structpb.Struct, error) { return pr.Decode(s) },
		}}, nil
	}
	return r.project.specs(p.Name)
}

// versionOf is that of a provider that has started.
func versionOf(e *engine.Engine, p session.Producer) (version string, ok bool) {
	for _, info := range e.Providers() {
		for _, ref := range info.Producers {
			if info.Name == p.Name && strings.EqualFold(ref.GetCategory().String(), "CATEGORY_"+p.Category) {
				return ref.GetVersion(), true
			}
		}
	}
	return "", false
}
