// Command provider-bash runs shell commands for agents: it shows what they print while
// they run, and leaves nothing of them behind.
//
//	shell_read ──► readonly (does it only read?)
//	       ▼
//	bash ──► workdir (may it start there?) ──► runner ──► keeper (sandbox) ──► shell
//	                                             │
//	                call.Stdout, call.Stderr ◄───┴──► transcript (result, file, summary)
//	                                                       ▲
//	process_list, process_output, process_input, ──► background
//	process_signal
package main

import (
	"embed"
	"strings"

	"github.com/agentco/agent/sdk"
)

// version is set by the linker.
var version string

//go:embed descriptions
var descriptions embed.FS

// described is what a model is told about a tool.
func described(tool string) string {
	text, err := descriptions.ReadFile("descriptions/" + tool + ".md")
	if err != nil {
		panic(err) // a fault of the program, found by any test
	}
	return strings.TrimSpace(string(text))
}

func main() { sdk.Main(provider()) }

func provider() *sdk.Provider[config] {
	p := sdk.New[config]("bash", "Runs shell commands.").
		Version(version).
		Source("github.com/agentco/agent//provider-bash").
		Setup(setup).
		Close(teardown)
	sdk.Tool(p, "bash", described("bash"), bash).
		Mutates(sdk.High).Streaming().Concurrent().Timeout(deadline).
		Preview(preview).
		Show(show)
	sdk.Tool(p, "shell_read", described("shell_read"), shellRead).
		ReadOnly().Streaming().Timeout(deadline).
		Preview(previewRead).
		Show(show)
	sdk.Tool(p, "process_list", described("process_list"), processList).
		ReadOnly().
		Preview(previewList).
		Show(showList)
	sdk.Tool(p, "process_output", described("process_output"), processOutput).
		ReadOnly().Timeout(deadline).
		Preview(previewOutput).
		Show(showOutput)
	sdk.Tool(p, "process_input", described("process_input"), processInput).
		Mutates(sdk.High).Concurrent("id").
		Preview(previewInput).
		Show(showInput)
	sdk.Tool(p, "process_signal", described("process_signal"), processSignal).
		Mutates(sdk.High).Concurrent().
		Preview(previewSignal).
		Show(showSignal)
	return p
}
