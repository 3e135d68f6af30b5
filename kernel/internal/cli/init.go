package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/catalogue"
	"github.com/agentco/agent/kernel/internal/install"
	"github.com/agentco/agent/kernel/internal/lock"
	"github.com/agentco/agent/kernel/internal/registry"
)

// initFlags are those of agent init.
type initFlags struct {
	upgrade, dryRun bool
	lockfile        string
}

func (a *app) initCommand() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Install the providers of the project",
		Long: `Install the providers that agent.hcl requires, as .agent/agent.lock.hcl says. What is not locked yet, or does not fit
agent.hcl any more, is chosen: the newest release that the version constraint allows. Commit the lock file: it makes
everybody run the same.

With everything locked and installed nothing is asked of anybody. When anything fails, nothing is changed.`,
		Example: `  agent init
  agent init --upgrade --dry-run     # is there anything newer?
  agent init --upgrade
  agent init --lockfile=readonly     # in CI: fail instead of changing the lock file`,
		Args: noMoreThan(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.initProject(cmd.Context(), f) },
	}
	cmd.Flags().BoolVar(&f.upgrade, "upgrade", false, "choose the newest allowed versions, whatever is locked")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "only say what would be chosen")
	cmd.Flags().StringVar(&f.lockfile, "lockfile", "", "`mode` of the lock file: readonly")
	_ = cmd.RegisterFlagCompletionFunc("lockfile", cobra.FixedCompletions([]cobra.Completion{"readonly"}, noFiles))
	return cmd
}

func (a *app) initProject(ctx context.Context, f initFlags) error {
	switch {
	case f.lockfile != "" && f.lockfile != "readonly":
		return usagef("unknown mode %q of the lock file: the only one is --lockfile=readonly", f.lockfile)
	case f.upgrade && f.lockfile != "":
		return usagef("--upgrade changes the lock file, and --lockfile=readonly forbids it: leave one of them out")
	}
	p, err := a.read()
	if err != nil {
		return err
	}
	if err := a.checkOverrides(p); err != nil {
		return err
	}
	i := a.installer(p)
	defer i.Registry.Close()
	if !f.dryRun {
		if err := install.UserProjects().Add(p.Root); err != nil {
			a.warn("agent providers prune will not know of this project: " + err.Error())
		}
	}
	i.Upgrade, i.DryRun, i.ReadOnly = f.upgrade, f.dryRun, f.lockfile == "readonly"
	progress := a.downloads()
	i.Progress = progress.update
	result, err := i.Run(ctx)
	progress.end()
	if err != nil {
		return p.explainInstall(err)
	}
	a.tellInit(p, result, i)
	return nil
}

// installer is one for the providers of a project, without those that are overridden.
func (a *app) installer(p *project) *install.Installer {
	i := &install.Installer{
		Cache: remembering(install.UserCache()), Platform: registry.Here(), Root: p.Root, LockShown: p.lockShown(),
		Registry: a.registry(p),
		Waiting:  func() { a.display.Note("· waiting for another agent that installs") },
	}
	for _, pr := range p.Providers {
		i.Known = append(i.Known, pr.Name)
		if _, overridden := p.global.DevOverrides[pr.Name]; !overridden {
			i.Wants = append(i.Wants, install.WantOf(pr))
		}
	}
	return i
}

// remembering reads a program only when it is not the file that was read before. Its start reads it anyway.
func remembering(cache install.Cache) install.Cache {
	known := catalogue.Default()
	cache.Sum = func(path string) (lock.Checksum, error) {
		binary, err := known.Identify(path)
		return lock.Checksum(binary.Checksum), err
	}
	return cache
}

// registry asks nobody until it is used.
func (a *app) registry(p *project) *registry.Client {
	return registry.New(registry.Options{Mirror: p.global.Mirror, Forges: p.global.Forges, UserAgent: "agent/" + a.version})
}

// checkOverrides says once which providers are not installed because the user's configuration names another binary, and
// fails for a binary that could not be started: that is no matter of any registry.
func (a *app) checkOverrides(p *project) error {
	var errs []error
	var told []string
	for _, name := range p.global.Overridden(p.Project) {
		path := p.global.DevOverrides[name]
		if err := install.Executable(path); err != nil {
			errs = append(errs, fmt.Errorf("the dev_override of provider %q: %w\nThe path comes from %s", name, err, p.override(name)))
		}
		told = append(told, name+" = "+p.short(path))
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if len(told) > 0 {
		a.warn(fmt.Sprintf("dev_overrides (%s): neither installed nor locked: %s", p.short(p.global.File), strings.Join(told, ", ")))
	}
	return nil
}

// explainInstall shows at agent.hcl what is about it.
func (p *project) explainInstall(err error) error {
	var errs []error
	for _, e := range flatten(err) {
		var outdated *install.OutdatedError
		if errors.As(e, &outdated) && p.Provider(outdated.Name) != nil {
			e = p.outdated(outdated)
		}
		errs = append(errs, e)
	}
	if err := errors.Join(errs...); exitCode(err) == exitCancelled {
		return &unchangedError{err}
	}
	return errors.Join(errs...)
}

// unchangedError is an install that was interrupted.
type unchangedError struct{ err error }

func (e *unchangedError) Error() string { return e.err.Error() }
func (e *unchangedError) Unwrap() error { return e.err }

// tellInit says what was chosen and why.
func (a *app) tellInit(p *project, r *install.Result, i *install.Installer) {
	for _, c := range r.Choices {
		for _, w := range c.Warnings {
			a.warn(c.Name + ": " + w)
		}
	}
	if len(r.Unused) > 0 {
		what := "no longer required, and no longer locked"
		if i.ReadOnly || i.DryRun {
			what = "locked, but not required"
		}
		a.warn(what + ": " + strings.Join(r.Unused, ", "))
	}
	if a.flags.json {
		a.writeJSON(initJSON(p, r, i))
		return
	}
	if len(p.Providers) == 0 {
		a.printf("%s requires no providers\n", shown(p.cwd, p.File))
		return
	}
	rows := make([][]string, 0, len(p.Providers))
	for _, c := range r.Choices {
		rows = append(rows, []string{c.Name, versionChange(c), orDash(c.Constraint.String()), c.Why, c.From, c.Verified})
	}
	for _, name := range p.global.Overridden(p.Project) {
		rows = append(rows, []string{name, "-", orDash(p.Provider(name).Version.String()), "dev_overrides", p.short(p.global.DevOverrides[name]), "nothing"})
	}
	a.table([]string{"PROVIDER", "VERSION", "ASKED FOR", "WHY", "FROM", "VERIFIED BY"}, rows)
	switch {
	case i.DryRun && r.LockWritten:
		a.printf("nothing was changed: agent init%s does it\n", upgradeFlag(i))
	case i.DryRun:
		a.printf("there is nothing to change\n")
	case r.LockWritten:
		a.printf("wrote %s: commit it\n", p.lockShown())
	}
}

func upgradeFlag(i *install.Installer) string {
	if i.Upgrade {
		return " --upgrade"
	}
	return ""
}

func versionChange(c install.Choice) string {
	if c.Previous == "" || c.Previous == c.Locked.Version {
		return c.Locked.Version
	}
	return c.Previous + " → " + c.Locked.Version
}

// installedJSON is a provider as agent init --json tells it.
type installedJSON struct {
	Name       string   `json:"name"`
	Source     string   `json:"source"`
	Constraint string   `json:"constraint,omitempty"`
	Version    string   `json:"version,omitempty"`
	Previous   string   `json:"previous,omitempty"`
	Why        string   `json:"why"`
	From       string   `json:"from"`
	Verified   string   `json:"verified_by,omitempty"`
	Path       string   `json:"path"`
	Override   bool     `json:"dev_override"`
	Warnings   []string `json:"warnings,omitempty"`
}

func initJSON(p *project, r *install.Result, i *install.Installer) map[string]any {
	list := make([]installedJSON, 0, len(p.Providers))
	for _, c := range r.Choices {
		key, _ := install.KeyOf(c.Locked, i.Platform)
		list = append(list, installedJSON{
			Name: c.Name, Source: c.Source.String(), Constraint: c.Constraint.String(), Version: c.Locked.Version, Previous: c.Previous,
			Why: c.Why, From: c.From, Verified: c.Verified, Path: i.Cache.Path(key), Warnings: c.Warnings,
		})
	}
	for _, name := range p.global.Overridden(p.Project) {
		pr := p.Provider(name)
		list = append(list, installedJSON{
			Name: name, Source: pr.Source.String(), Constraint: pr.Version.String(), Why: "dev_overrides", From: p.global.File,
			Path: p.global.DevOverrides[name], Override: true,
		})
	}
	return map[string]any{
		"providers": list, "platform": i.Platform.String(), "lock_file": lock.Path(p.Root),
		"lock_changed": r.LockWritten, "dry_run": i.DryRun, "unused": append([]string{}, r.Unused...),
	}
}
