package cli

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

func TestEveryCommandHasAnExample(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			require.NotEmpty(t, cmd.Short)
			require.Contains(t, cmd.Example, "agent ")
			require.Regexp(t, `^  \S`, cmd.Example)
		})
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newApp("").root())
}
