// Command conformance holds a provider, in any language, to the protocol.
package main

import (
	"context"
	"os"

	"github.com/agentco/agent/conformance/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
