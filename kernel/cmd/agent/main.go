// Command agent runs the providers of a project.
package main

import (
	"os"

	"github.com/agentco/agent/kernel/internal/cli"
)

// version is set by the linker.
var version string

func main() { os.Exit(cli.Main(version)) }
