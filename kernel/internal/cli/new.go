package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/scaffold"
)

func (a *app) newCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "new",
		Short: "Write an agent.hcl for this folder",
		Long: `Write an agent.hcl that makes this folder a project: file tools and commands that stay in it, and in a git repository
those for releases. Everything that changes something asks first. Nothing that exists is replaced.

A provider of your own is begun with agent provider new.`,
		Example: `  agent new && agent init
  agent -C ~/src/weather new`,
		Args: noMoreThan(0),
		RunE: func(*cobra.Command, []string) error { return a.newProject() },
	}
}

// projectJSON is what `agent new --json` says.
type projectJSON struct {
	Path      string   `json:"path"`
	Providers []string `json:"providers"`
	Next      []string `json:"next_steps"`
}

func (a *app) newProject() error {
	dir, err := os.Getwd()
	if err != nil {
		return usagef("cannot tell which folder this is, it may have been removed: %w", err)
	}
	above, err := config.Find(filepath.Dir(dir))
	if missing := (*config.NoProjectError)(nil); err != nil && !errors.As(err, &missing) {
		return err
	}
	_, err = os.Stat(filepath.Join(dir, ".git"))
	p := scaffold.Project{Build: a.version, Repository: err == nil}
	path, err := p.Write(dir)
	var exists *scaffold.ExistsError
	switch {
	case errors.As(err, &exists):
		return usagef("%s is a project already: its %s stays as it is. agent validate checks it", dir, config.FileName)
	case err != nil:
		return fmt.Errorf("cannot write %s in %s, and nothing of it is left: %w", config.FileName, dir, err)
	}
	if above != "" {
		a.warn(fmt.Sprintf("this folder belonged to the project of %s: here, and in the folders below, %s counts from now on", above, path))
	}
	next, why := a.nextSteps(p.Providers())
	if a.flags.json {
		a.writeJSON(map[string]any{"project": projectJSON{Path: path, Providers: p.Providers(), Next: next}})
		return nil
	}
	painter := a.display.OutPainter()
	a.printf("%s %s: %s, held to this folder\n\nNext:\n", painter.Success("wrote"), config.FileName, strings.Join(p.Providers(), ", "))
	for _, command := range next {
		a.printf("  %s\n", command)
		if why != "" {
			a.printf("%s", prose(why, "    ", painter.Dim, painter))
			why = ""
		}
	}
	return nil
}
