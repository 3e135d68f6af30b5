package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/install"
	"github.com/agentco/agent/kernel/internal/lock"
	"github.com/agentco/agent/kernel/internal/registry"
)

func (a *app) providersLockCommand() *cobra.Command {
	var platforms []string
	cmd := &cobra.Command{
		Use:   "lock [PROVIDER …]",
		Short: "Add platforms to the lock file",
		Long: `Add the checksums of platforms to .agent/agent.lock.hcl, of all providers or of those that are named. What is locked
stays as it is, and nothing is installed. agent init locks the archives of every platform that a release has a checksum
for; this adds one that came later, and what the programs inside are, so that init changes nothing on any platform.`,
		Example:           `  agent providers lock --platform linux_amd64 --platform darwin_arm64`,
		ValidArgsFunction: a.completeNames(false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.providersLock(cmd.Context(), args, platforms)
		},
	}
	platformFlag(cmd, &platforms)
	return cmd
}

func platformFlag(cmd *cobra.Command, into *[]string) {
	cmd.Flags().StringArrayVar(into, "platform", nil, "`OS_ARCH` such as linux_amd64; may be repeated (default this one)")
	usual := []cobra.Completion{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64", "windows_arm64"}
	_ = cmd.RegisterFlagCompletionFunc("platform", cobra.FixedCompletions(usual, noFiles))
}

// parsePlatforms are those of the flags, this one when there are none.
func parsePlatforms(words []string) ([]registry.Platform, error) {
	if len(words) == 0 {
		return []registry.Platform{registry.Here()}, nil
	}
	var platforms []registry.Platform
	for _, word := range words {
		p, err := registry.ParsePlatform(word)
		if err != nil {
			return nil, usagef("--platform: %w", err)
		}
		if !slices.Contains(platforms, p) {
			platforms = append(platforms, p)
		}
	}
	return platforms, nil
}

// installerFor is installer for the providers that were named, all when none was.
func (a *app) installerFor(p *project, names []string) (*install.Installer, error) {
	i := a.installer(p)
	for _, name := range names {
		if err := p.named(name); err != nil {
			return nil, err
		}
		if path, overridden := p.global.DevOverrides[name]; overridden {
			return nil, usagef("provider %q is the binary %s (%s), which has no release to lock or copy", name, p.short(path), p.override(name))
		}
	}
	if len(names) > 0 {
		i.Wants = slices.DeleteFunc(i.Wants, func(w install.Want) bool { return !slices.Contains(names, w.Name) })
	}
	return i, nil
}

func (a *app) providersLock(ctx context.Context, names, words []string) error {
	platforms, err := parsePlatforms(words)
	if err != nil {
		return err
	}
	p, err := a.open(names...)
	if err != nil {
		return err
	}
	i, err := a.installerFor(p, names)
	if err != nil {
		return err
	}
	defer i.Registry.Close()
	progress := a.downloads()
	i.Progress = progress.update
	result, err := i.LockPlatforms(ctx, platforms)
	progress.end()
	if err != nil {
		return p.explainInstall(err)
	}
	for _, c := range result.Choices {
		for _, w := range c.Warnings {
			a.warn(c.Name + ": " + w)
		}
	}
	if a.flags.json {
		a.writeJSON(lockJSON(p, result))
		return nil
	}
	rows := make([][]string, len(result.Choices))
	for n, c := range result.Choices {
		rows[n] = []string{c.Name, c.Locked.Version, platformWords(c.Locked.Platforms()), platformWords(slices.Collect(maps.Keys(c.Locked.Programs))), c.Verified}
	}
	if len(rows) > 0 {
		a.table([]string{"PROVIDER", "VERSION", "ARCHIVES LOCKED", "PROGRAMS LOCKED", "VERIFIED BY"}, rows)
	}
	if len(names) == 0 {
		a.tellLeftOut(p)
	}
	if result.LockWritten {
		a.printf("wrote %s: commit it\n", p.lockShown())
	}
	return nil
}

func platformWords(platforms []registry.Platform) string {
	words := make([]string, len(platforms))
	for i, p := range platforms {
		words[i] = p.String()
	}
	slices.Sort(words)
	return orDash(strings.Join(words, ", "))
}

func lockJSON(p *project, r *install.Result) map[string]any {
	type lockedJSON struct {
		Name      string            `json:"name"`
		Version   string            `json:"version"`
		Checksums map[string]string `json:"checksums"`
		Programs  map[string]string `json:"programs"`
	}
	list := make([]lockedJSON, len(r.Choices))
	for i, c := range r.Choices {
		list[i] = lockedJSON{c.Name, c.Locked.Version, sumsJSON(c.Locked.Checksums), sumsJSON(c.Locked.Programs)}
	}
	return map[string]any{"providers": list, "lock_file": lock.Path(p.Root), "lock_changed": r.LockWritten}
}

func sumsJSON(sums map[registry.Platform]lock.Checksum) map[string]string {
	out := map[string]string{}
	for p, sum := range sums {
		out[p.String()] = sum.String()
	}
	return out
}
