// Command provider-bash runs shell commands for agents: it shows what they print while
// they run, and leaves nothing of them behind.
//
//	bash ──► workdir (may it start there?) ──► runner ──► keeper ──► shell
//	                                             │
//	               call.Stdout, call.Stderr ◄────┼──► capture (result, file)
//	                                             └──► summary (one line)
package main

import (
	_ "embed"
	"strings"

	"github.com/agentco/agent/sdk"
)

// version is set by the linker.
var version string

//go:embed descriptions/bash.md
var bashDescription string

func main() { sdk.Main(provider()) }

func provider() *sdk.Provider[config] {
	p := sdk.New[config]("bash", "Runs shell commands.").
		Version(version).
		Source("github.com/agentco/agent//provider-bash").
		Setup(setup).
		Close(teardown)
	sdk.Tool(p, "bash", strings.TrimSpace(bashDescription), bash).
		Mutates(sdk.High).Streaming().Concurrent().Timeout(deadline).
		Preview(preview).
		Show(show)
	return p
}
