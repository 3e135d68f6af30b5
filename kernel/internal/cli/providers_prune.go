package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/install"
	"github.com/agentco/agent/kernel/internal/session"
)

func (a *app) providersPruneCommand() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove installed providers that nothing needs",
		Long: `Remove the providers from the cache that no lock file of a known project needs, and that no kept session ran: a
session is replayed with the version it ran. Known are the projects in which agent init was run. Providers of other
branches of a project can be installed again by agent init.`,
		Example: `  agent providers prune --dry-run`,
		Args:    noMoreThan(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.providersPrune(cmd.Context(), dry) },
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be removed")
	return cmd
}

func (a *app) providersPrune(ctx context.Context, dry bool) error {
	projects := install.UserProjects()
	var needs *install.Needs
	census := func() (func(install.Key) bool, error) {
		var err error
		if needs, err = a.needs(ctx, projects); err != nil {
			return nil, err
		}
		return func(k install.Key) bool { return needs.By(k) != "" }, nil
	}
	cache := install.UserCache()
	waiting := func() { a.display.Note("· waiting for an agent that installs") }
	removed, err := cache.Prune(ctx, dry, waiting, census)
	if err != nil {
		return err
	}
	if !dry {
		for _, root := range needs.Gone {
			if err := projects.Remove(root); err != nil {
				return fmt.Errorf("forget the project %s, which is gone: %w", root, err)
			}
		}
	}
	a.tellPruned(cache, removed, dry)
	return nil
}

// needs is what the known projects and the kept sessions need. The project that this is run in is known, whether or not
// anything was installed for it yet.
func (a *app) needs(ctx context.Context, projects install.Projects) (*install.Needs, error) {
	roots, err := projects.All()
	if err != nil {
		return nil, fmt.Errorf("cannot tell which projects need installed providers: %w", err)
	}
	if here, err := config.Find("."); err == nil {
		roots = append(roots, filepath.Dir(here))
	}
	needs, err := install.NeedsOf(roots)
	if err != nil {
		return nil, err
	}
	return needs, keepSessions(ctx, needs)
}

// keepSessions adds what the kept sessions ran. One that cannot be read ends it: nobody knows what it needs.
func keepSessions(ctx context.Context, needs *install.Needs) error {
	files, err := filepath.Glob(filepath.Join(xdg.StateHome, "agent", "sessions", "*.sqlite"))
	if err != nil {
		return err
	}
	for _, path := range files {
		if err := keepSession(ctx, path, needs); err != nil {
			return fmt.Errorf("cannot tell which providers the session %s needs: %w", strings.TrimSuffix(filepath.Base(path), ".sqlite"), err)
		}
	}
	return nil
}

func keepSession(ctx context.Context, path string, needs *install.Needs) (err error) {
	f, err := session.Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for producer, err := range f.Producers(ctx) {
		if err != nil {
			return err
		}
		if producer.Category != "kernel" {
			needs.Keep(strings.TrimPrefix(producer.Version, "v"), path)
		}
	}
	return nil
}

// tellPruned says what was removed.
func (a *app) tellPruned(cache install.Cache, removed []install.Installed, dry bool) {
	var bytes int64
	list := make([]map[string]any, len(removed))
	rows := make([][]string, len(removed))
	for i, r := range removed {
		bytes += r.Bytes
		list[i] = map[string]any{"source": r.Source.String(), "version": r.Version, "platform": r.Platform.String(), "bytes": r.Bytes, "path": cache.Path(r.Key)}
		rows[i] = []string{r.Source.String(), r.Version, r.Platform.String(), strings.Trim(sized(r.Bytes), " ()")}
	}
	if a.flags.json {
		a.writeJSON(map[string]any{"removed": list, "bytes": bytes, "dry_run": dry})
		return
	}
	if len(removed) == 0 {
		a.printf("there is nothing to remove\n")
		return
	}
	a.table([]string{"PROVIDER", "VERSION", "PLATFORM", "SIZE"}, rows)
	verb := "removed"
	if dry {
		verb = "would remove"
	}
	a.printf("%s %d, %s\n", verb, len(removed), strings.Trim(sized(bytes), " ()"))
}
