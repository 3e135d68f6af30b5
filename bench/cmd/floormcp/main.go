// Command floormcp is the smallest MCP server on the official SDK that does the work.
//
//	floormcp                 does it in its own process
//	floormcp -plugin BINARY  has a go-plugin provider read and run, with mutual TLS: the whole chain of a bridge, bare
//	floormcp -twice          has what it answers as structured content, too
//	floormcp -memory         reads only, without the SDK, by answers that it made before: what remains is the client's cost
//	floormcp -answers DIR    the same, by answers of another server that were recorded in a folder
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/agentco/agent/bench/internal/bare"
)

func main() {
	var s bare.Server
	flag.StringVar(&s.Provider, "plugin", "", "`path` of the provider that reads and runs")
	flag.BoolVar(&s.Twice, "twice", false, "answer as text and as structured content")
	memory := flag.Bool("memory", false, "answer reads from memory, without the SDK")
	answers := flag.String("answers", "", "answer from memory what was recorded in a `folder`")
	flag.Parse()
	var err error
	switch {
	case *answers != "":
		err = bare.ServeMemory(os.Stdin, os.Stdout, bare.Recorded(*answers))
	case *memory:
		err = bare.ServeMemory(os.Stdin, os.Stdout, bare.Contents())
	default:
		err = s.Serve()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "floormcp:", err)
		os.Exit(1)
	}
}
