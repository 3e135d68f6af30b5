package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/agentco/agent/kernel/internal/catalogue"
	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/policy"
	"github.com/agentco/agent/kernel/internal/schedule"
	"github.com/agentco/agent/kernel/internal/secret"
	"google.golang.org/protobuf/types/known/structpb"
)

// prepareNamed is prepare for providers that somebody named; none for all. Nothing is started when one of them is not there.
func (a *app) prepareNamed(p *project, names []string) (*engine.Engine, error) {
	for _, name := range names {
		if err := p.named(name); err != nil {
			return nil, err
		}
	}
	return a.prepare(p, names...)
}

// prepare is start for what may need no more of a provider than is known of it: those that the catalogue knows are started
// at their first call, or by ready.
func (a *app) prepare(p *project, names ...string) (*engine.Engine, error) {
	return a.openEngine(a.ctx, p, true, names...)
}

// ready starts a provider that was only prepared, so that a start that fails is told as one.
func (a *app) ready(p *project, s *engine.Session, provider string) error {
	if a.display.err.live {
		a.display.SetStatus("starting providers")
		defer a.display.SetStatus("")
	}
	return p.explain(s.Engine().Start(a.ctx, provider))
}

// readyFor is ready for a call. What is wrong with the call itself, the call says, and needs no provider for it.
func (a *app) readyFor(p *project, s *engine.Session, op engine.Operation, args *structpb.Struct) error {
	if _, _, wrong := s.Decide(engine.Request{Operation: op, Arguments: args}); wrong != nil {
		return nil
	}
	return a.ready(p, s, op.Provider)
}

// start opens an engine with the named providers, all when none is named. The engine is nil when nothing
// could be started; with providers that failed there are both an engine and an error.
func (a *app) start(p *project, names ...string) (*engine.Engine, error) {
	return a.openEngine(a.ctx, p, false, names...)
}

// openEngine opens an engine; what it starts for that, it starts for as long as ctx lasts.
func (a *app) openEngine(ctx context.Context, p *project, lazy bool, names ...string) (*engine.Engine, error) {
	specs, err := p.specs(names...)
	if err != nil {
		return nil, err
	}
	if a.display.err.live {
		a.display.SetStatus("starting providers")
	}
	e, err := engine.Open(ctx, engine.Options{
		Providers: specs, Policies: p.Policies, Catalogue: catalogue.Default(), Lazy: lazy,
		Retry:       schedule.Retry{BaseDelay: p.Settings.Retry.BaseDelay, Factor: p.Settings.Retry.Factor, Max: p.Settings.Retry.Max},
		ProjectRoot: p.Root, WorkingDir: p.cwd, Log: p.log, Secrets: a.secrets,
	})
	a.display.SetStatus("")
	if e != nil {
		a.kill.set(e.Kill)
	}
	if e == nil {
		return nil, err
	}
	return e, errors.Join(p.explain(err), p.unmatched(e))
}

// unmatched finds policies and profiles that name what the started providers do not have.
func (p *project) unmatched(e *engine.Engine) error {
	offers := map[string]config.Offer{}
	for _, info := range e.Providers() {
		offers[info.Name] = config.Offer{}
	}
	for _, op := range e.Operations() {
		offer := offers[op.Provider]
		if op.IsCommand() {
			offer.Commands = append(offer.Commands, op.Name)
		} else {
			offer.Tools = append(offer.Tools, op.Name)
		}
		offer.Operations = append(offer.Operations,
			policy.Callable{Provider: op.Provider, Operation: op.Name, Kind: op.Kind, Risk: op.Risk, Input: op.Input})
		offers[op.Provider] = offer
	}
	return p.CheckNames(offers)
}

// explain shows at the provider block what the provider said about one of its arguments.
func (p *project) explain(err error) error {
	failures := engine.Failures(err)
	if len(failures) == 0 {
		return err
	}
	out := make([]error, len(failures))
	for i, f := range failures {
		out[i] = &failedStart{f, p.override(f.Provider)}
		field := f.Rejection.GetDetails().GetFields()["field"].GetStringValue()
		if pr := p.Provider(f.Provider); pr != nil && field != "" {
			out[i] = &rejection{start: f, files: pr.Rejected(field, strings.TrimPrefix(f.Rejection.GetMessage(), field+": "))}
		}
	}
	return errors.Join(out...)
}

// override is where the user's configuration names the binary of a provider.
func (p *project) override(provider string) string {
	if _, overridden := p.global.DevOverrides[provider]; !overridden {
		return p.lockShown()
	}
	return fmt.Sprintf("%s:%d", p.short(p.global.File), p.global.OverrideLine(provider))
}

// failedStart is a start that failed, and where the path of the binary comes from.
type failedStart struct {
	*engine.StartError
	from string
}

func (f *failedStart) Error() string {
	return fmt.Sprintf("%s\nThe path of the provider comes from %s.", f.StartError, f.from)
}
func (f *failedStart) Unwrap() error { return f.StartError }

// rejection is a failed start that is a problem of agent.hcl.
type rejection struct {
	start *engine.StartError
	files config.Diagnostics
}

func (r *rejection) Error() string { return r.files.Error() }
func (r *rejection) Unwrap() error { return r.start }

// As shows the error as what it is for a person.
func (r *rejection) As(target any) bool {
	files, ok := target.(*config.Diagnostics)
	if ok {
		*files = r.files
	}
	return ok
}

// logger writes to stderr, past the status line. The flag outranks the project.
func (a *app) logger(level string) (*slog.Logger, error) {
	if a.flags.logLevel != "" {
		level = a.flags.logLevel
	}
	levels := map[string]slog.Level{
		"": slog.LevelWarn, "trace": slog.LevelDebug - 4, "debug": slog.LevelDebug,
		"info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}
	at, ok := levels[level]
	if !ok {
		return nil, usagef("unknown log level %q: use %s", level, strings.Join(config.LogLevels, ", "))
	}
	a.logLevel.Set(at)
	to := slog.NewTextHandler(a.display.Err(), &slog.HandlerOptions{Level: &a.logLevel})
	return slog.New(secret.Handler{Set: a.secrets, To: to}), nil
}
