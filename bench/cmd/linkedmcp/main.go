// Command linkedmcp is floormcp in its own process, linked with what the kernel cannot be without: the driver of its log's
// database and the language of its configuration, beside go-plugin, gRPC and the SDK of MCP, which every bare server here
// has. It does nothing with them: what it takes longer to start is what they take to be loaded and initialised.
package main

import (
	"fmt"
	"os"

	_ "github.com/hashicorp/hcl/v2/hcldec"
	_ "github.com/hashicorp/hcl/v2/hclsyntax"
	_ "github.com/hashicorp/hcl/v2/hclwrite"
	_ "github.com/hashicorp/hcl/v2/json"
	_ "github.com/zclconf/go-cty/cty/function/stdlib"
	_ "modernc.org/sqlite"

	"github.com/agentco/agent/bench/internal/bare"
)

func main() {
	if err := new(bare.Server).Serve(); err != nil {
		fmt.Fprintln(os.Stderr, "linkedmcp:", err)
		os.Exit(1)
	}
}
