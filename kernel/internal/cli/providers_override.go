package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/assistant"
	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/agentco/agent/kernel/internal/schema"
)

func (a *app) providersOverrideCommand() *cobra.Command {
	var write bool
	cmd := &cobra.Command{
		Use:   "override [NAME[=PATH] …]",
		Short: "Run providers that you have built yourself",
		Long: `Print the dev_overrides of config.hcl, a file of yours, that have binaries run in place of installed providers, in every
project of yours. With --write they are put there, and everything else in there stays as it is, comments too.

Without a PATH it is the provider-NAME that lies beside agent, as after make build; without a NAME, those of the project
that lie there.`,
		Example: `  agent providers override --write
  agent providers override weather=~/src/provider-weather/provider-weather --write`,
		ValidArgsFunction: a.completeNames(false),
		RunE:              func(_ *cobra.Command, args []string) error { return a.providersOverride(args, write) },
	}
	cmd.Flags().BoolVar(&write, "write", false, "put them into config.hcl")
	return cmd
}

func (a *app) providersOverride(args []string, write bool) error {
	cwd, err := os.Getwd()
	if err != nil {
		return usagef("cannot tell which folder this is, it may have been removed: %w", err)
	}
	home, _ := os.UserHomeDir()
	scope := config.Scope{Cwd: cwd, Home: home, LookupEnv: os.LookupEnv}
	global, err := config.LoadGlobal(config.GlobalPath(), scope)
	if err != nil {
		return err
	}
	paths, err := a.overriding(args, home)
	if err != nil {
		return err
	}
	before, after, err := global.Overriding(paths, scope)
	if err != nil {
		return err
	}
	o := overriding{File: global.File, Paths: paths, State: installShown, short: (&project{home: home}).short(global.File)}
	switch {
	case before != nil && string(before) == string(after):
		o.State = installPresent
	case write:
		if err := assistant.Replace(global.File, before, after, 0o600); err != nil {
			return fmt.Errorf("cannot write %s, which is left as it was: %w", o.short, err)
		}
		o.State = installWritten
	}
	a.tellOverriding(o, assistant.Changed(before, after))
	return nil
}

// overriding is what is to be in config.hcl, and what became of it.
type overriding struct {
	File  string            `json:"file"`
	Paths map[string]string `json:"dev_overrides"`
	State string            `json:"state"`
	short string            // the file, for people
}

func (a *app) tellOverriding(o overriding, change assistant.Change) {
	switch {
	case a.flags.json:
		a.writeJSON(map[string]any{"overrides": o})
	case o.State == installPresent:
		a.printf("%s has %s already\n", paint.Line(o.short), strings.Join(slices.Sorted(maps.Keys(o.Paths)), ", "))
	case o.State == installWritten:
		a.printf("%s %s\n", a.display.OutPainter().Success("wrote"), paint.Line(o.short))
		a.tellChange(change)
	default:
		a.display.Note(a.display.ErrPainter().Dim("this goes into " + paint.Line(o.short)))
		a.printf("%s\n", paint.Text(config.OverridesText(o.Paths)))
		a.display.Note("With --write it is put there.")
	}
}

// overriding finds the binaries that are meant, by the names of their providers.
func (a *app) overriding(args []string, home string) (map[string]string, error) {
	required, err := a.required()
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		return besideAgent(required)
	}
	paths := map[string]string{}
	for _, arg := range args {
		name, path, given := strings.Cut(arg, "=")
		switch {
		case !config.IsProviderName(name):
			return nil, usagef("%q is no name of a provider: write NAME=PATH, as in weather=/path/to/provider-weather", name)
		case !given:
			path = builtBeside(name)
		case strings.HasPrefix(path, "~/"): // which no shell has expanded behind the sign
			path = filepath.Join(home, path[2:])
		}
		if paths[name], err = program(path); err != nil {
			return nil, usagef("%s: %w", name, err)
		}
		if len(required) > 0 && !slices.Contains(required, name) {
			a.warn(fmt.Sprintf("no provider %q is required here%s: it counts where one is", name, schema.Hint(name, required)))
		}
	}
	return paths, nil
}

// required are the providers of the project, if this is one.
func (a *app) required() (names []string, err error) {
	p, err := a.read()
	if errors.As(err, new(*config.NoProjectError)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, pr := range p.Providers {
		names = append(names, pr.Name)
	}
	return names, nil
}

// besideAgent are the binaries of some providers that lie beside this program.
func besideAgent(names []string) (map[string]string, error) {
	paths := map[string]string{}
	for _, name := range names {
		if path, err := program(builtBeside(name)); err == nil {
			paths[name] = path
		}
	}
	if len(paths) > 0 {
		return paths, nil
	}
	why := "there is no agent.hcl here that names any"
	if len(names) > 0 {
		why = fmt.Sprintf("none of %s lies beside %s", strings.Join(names, ", "), builtBeside(""))
	}
	return nil, usagef("say which: %s. Write agent providers override weather=/path/to/provider-weather --write, for example", why)
}

// builtBeside is where the build of a provider would be that was made along with this program; this program, without a name.
func builtBeside(name string) string {
	self, _ := os.Executable()
	if name == "" {
		return self
	}
	return filepath.Join(filepath.Dir(self), "provider-"+name) + filepath.Ext(filepath.Base(self))
}

// program is the absolute path of what can be run.
func program(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no %s: build it first, or write NAME=PATH", path)
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		return "", fmt.Errorf("%s cannot be run: name the binary itself", path)
	}
	return path, nil
}
