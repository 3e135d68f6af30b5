package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/proto/plugin"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which build this is",
		Example: `  agent version
  agent version --json`,
		Args: noMoreThan(0),
		RunE: func(*cobra.Command, []string) error {
			if a.flags.json {
				a.writeJSON(map[string]any{
					"version": a.versionText(), "protocol_version": plugin.ProtocolVersion,
					"go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
				return nil
			}
			a.printf("agent %s (protocol %d, %s, %s/%s)\n", a.versionText(), plugin.ProtocolVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
