package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/catalogue"
	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/host"
	"github.com/agentco/agent/kernel/internal/install"
	"github.com/agentco/agent/kernel/internal/lock"
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
	projects, cache := install.UserProjects(), install.UserCache()
	var needs *install.Needs
	census := func() (func(install.Key) bool, error) {
		var err error
		if needs, err = a.needs(projects); err != nil {
			return nil, err
		}
		sessions, err := sessionsRan(ctx)
		if err != nil {
			return nil, err
		}
		return func(k install.Key) bool { return needs.Has(k) || sessions.need(cache, k) }, nil
	}
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

// needs is what the known projects need. The project that this is run in is known, whether or not
// anything was installed for it yet.
func (a *app) needs(projects install.Projects) (*install.Needs, error) {
	roots, err := projects.All()
	if err != nil {
		return nil, fmt.Errorf("cannot tell which projects need installed providers: %w", err)
	}
	if here, err := config.Find("."); err == nil {
		roots = append(roots, filepath.Dir(here))
	}
	return install.NeedsOf(roots)
}

// ran is what the kept sessions ran.
type ran map[string][]session.Producer // by the path of the session

// sessionsRan reads the kept sessions. One that cannot be read ends it: nobody knows what it needs.
func sessionsRan(ctx context.Context) (ran, error) {
	all, err := sessionsFolder().List(ctx)
	if err != nil {
		return nil, err
	}
	r := ran{}
	for _, s := range all {
		if r[s.Path], err = providersRan(ctx, s.Path); err != nil {
			return nil, fmt.Errorf("cannot tell which providers the session %s needs: %w", s.ID, err)
		}
	}
	return r, nil
}

func providersRan(ctx context.Context, path string) (all []session.Producer, err error) {
	f, err := session.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for producer, err := range f.Producers(ctx) {
		if err != nil {
			return nil, err
		}
		if producer.Category != "kernel" {
			all = append(all, producer)
		}
	}
	return all, nil
}

// need reports whether a session ran the installed provider: its release, or whatever version the program calls itself.
// A session does not know where a provider was installed from, so that the version alone decides.
func (r ran) need(cache install.Cache, k install.Key) bool {
	versions := map[string]bool{k.Version: true}
	if said := introduction(cache, k); said != nil {
		versions[strings.TrimPrefix(said.ToolsProducer.GetVersion(), "v")] = true
		versions[strings.TrimPrefix(said.CommandsProducer.GetVersion(), "v")] = true
	}
	for _, producers := range r {
		for _, p := range producers {
			if p.Version != "" && versions[strings.TrimPrefix(p.Version, "v")] {
				return true
			}
		}
	}
	return false
}

// introduction is what the program said of itself when it was last started; nil when that is not known.
func introduction(cache install.Cache, k install.Key) *host.Introduction {
	file, err := os.Open(cache.Path(k))
	if err != nil {
		return nil
	}
	defer file.Close()
	sum, err := lock.Sum(file)
	if err != nil {
		return nil
	}
	return catalogue.Default().Find(string(sum))
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
