package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/lock"
	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/schema"
)

// project is the configuration a command works with.
type project struct {
	*config.Project
	global    *config.Global
	cwd, home string
	// log is the log of the level that the project, or the command line, asks for.
	log *slog.Logger
	// profile limits what there is; nil when nothing does.
	profile *config.Profile
	locked  *lock.File // nil until it is needed
}

// open finds and reads the configuration, and says what is to be said on every run: of the named providers, or of all
// when none is named.
func (a *app) open(names ...string) (*project, error) {
	p, err := a.read()
	if err == nil {
		a.tellOverrides(p, names...)
	}
	return p, err
}

// tellOverrides says which of the named providers, all when none is named, are not the installed ones.
func (a *app) tellOverrides(p *project, names ...string) {
	overridden := slices.DeleteFunc(p.global.Overridden(p.Project), func(name string) bool {
		return len(names) > 0 && !slices.Contains(names, name)
	})
	if len(overridden) > 0 {
		line := fmt.Sprintf("dev_overrides: %s (%s)", strings.Join(overridden, ", "), p.short(p.global.File))
		a.display.Note(a.display.ErrPainter().Dim(paint.Line(line)))
	}
}

// tellLeftOut says which providers have no release to lock or to copy.
func (a *app) tellLeftOut(p *project) {
	overridden := p.global.Overridden(p.Project)
	if len(overridden) > 0 {
		a.display.Note(paint.Line(fmt.Sprintf("left out: %s, which dev_overrides of %s replaces with a binary that has no release",
			strings.Join(overridden, ", "), p.short(p.global.File))))
	}
}

// short is a path with ~ for the user's folder.
func (p *project) short(path string) string {
	if rest, inside := strings.CutPrefix(path, p.home+string(filepath.Separator)); inside && p.home != "" {
		return filepath.Join("~", rest)
	}
	return path
}

// read finds and reads the configuration.
func (a *app) read() (*project, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, usagef("cannot tell which folder this is, it may have been removed or closed: %w", err)
	}
	file, err := config.Find(cwd)
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir()
	scope := config.Scope{Cwd: cwd, Home: home, LookupEnv: os.LookupEnv}
	loaded, err := config.Load(file, shown(cwd, file), scope)
	global, globalErr := config.LoadGlobal(config.GlobalPath(), scope)
	if err := errors.Join(err, globalErr); err != nil {
		return nil, err
	}
	p := &project{Project: loaded, global: global, cwd: cwd, home: home}
	for _, d := range p.Warnings {
		a.showDiagnostic(d)
	}
	if p.log, err = a.logger(p.Settings.LogLevel); err != nil {
		return nil, err
	}
	p.log.Debug("the configuration was read", "file", p.File, "user_file", global.File, "providers", len(p.Providers), "policies", len(p.Policies))
	return p, a.useProfile(p)
}

// shown is a path as a person in cwd would write it.
func shown(cwd, path string) string {
	rel, err := filepath.Rel(cwd, path)
	if err != nil || len(rel) > len(path) {
		return path
	}
	return rel
}

func (a *app) warn(text string) {
	a.display.Note(a.display.ErrPainter().Warning("warning: ") + paint.Text(text))
}

// named checks that the project has a provider.
func (p *project) named(name string) error {
	if p.Provider(name) != nil {
		return nil
	}
	names := make([]string, len(p.Providers))
	for i, pr := range p.Providers {
		names[i] = pr.Name
	}
	text := "there is no provider \"" + name + "\" in " + shown(p.cwd, p.File)
	if len(names) > 0 {
		text += ": it requires " + strings.Join(names, ", ")
	}
	return &engine.LookupError{Text: text, Suggestion: schema.Nearest(name, names)}
}
