package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) providersMirrorCommand() *cobra.Command {
	var platforms []string
	cmd := &cobra.Command{
		Use:   "mirror DIR",
		Short: "Copy the providers of the project into a folder to install from",
		Long: `Copy the locked releases of the project's providers into a folder, or the newest allowed of those that are not locked.
A folder can be filled from many projects. To install from it, name it in the user's config.hcl, or name the address of
a web server that serves it:

  registry_mirror {
    default = "/srv/providers"
  }`,
		Example: `  agent providers mirror /srv/providers --platform linux_amd64 --platform linux_arm64`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("name one folder: %s DIR", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.providersMirror(cmd.Context(), args[0], platforms)
		},
	}
	platformFlag(cmd, &platforms)
	return cmd
}

func (a *app) providersMirror(ctx context.Context, dir string, words []string) error {
	platforms, err := parsePlatforms(words)
	if err != nil {
		return err
	}
	p, err := a.open()
	if err != nil {
		return err
	}
	i := a.installer(p)
	defer i.Registry.Close()
	progress := a.downloads()
	i.Progress = progress.update
	mirrored, err := i.Mirror(ctx, dir, platforms)
	progress.end()
	if err != nil {
		return p.explainInstall(err)
	}
	if a.flags.json {
		list := make([]map[string]any, len(mirrored))
		for n, m := range mirrored {
			list[n] = map[string]any{"name": m.Name, "source": m.Source.String(), "version": m.Version, "from": m.From, "files": m.Files, "new": append([]string{}, m.New...)}
		}
		a.writeJSON(map[string]any{"folder": dir, "providers": list})
		return nil
	}
	rows := make([][]string, len(mirrored))
	for n, m := range mirrored {
		rows[n] = []string{m.Name, m.Version, fmt.Sprint(len(m.Files)), fmt.Sprint(len(m.New)), m.From}
	}
	if len(rows) > 0 {
		a.table([]string{"PROVIDER", "VERSION", "FILES", "NEW", "FROM"}, rows)
	}
	a.tellLeftOut(p)
	return nil
}
