package keeper

import (
	"os"

	"github.com/agentco/agent/providers/bash/internal/keeper/serve"
	"github.com/agentco/agent/providers/bash/internal/sandbox"
)

// confinedName is argv[0] of a keeper whose commands are confined. It branches off later than
// others, since confining takes packages that they do without.
const confinedName = "provider-bash: keeper of confined commands"

func init() {
	if len(os.Args) == 1 && os.Args[0] == confinedName {
		serve.Run(sandbox.Enter)
	}
}
