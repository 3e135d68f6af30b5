// Command modules makes the tags by which others import the modules of this repository: sdk/v1.2.3 and its like.
//
//	modules check    builds the modules from a proxy that serves them as they would be tagged
//	modules tag      makes the tags
//
// In the repository a go.mod replaces the modules beside it by their folders, which `go get` and `go install` refuse.
// So the tags are not on HEAD but on a commit above it, which no branch holds: there each go.mod requires its
// neighbours by the versions of tools/versions.txt, and each go.sum has their hashes. Nothing is pushed.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "modules:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("modules", flag.ExitOnError)
	root := flags.String("C", ".", "root of the `repository`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	work := map[string]func(*release) error{"check": (*release).check, "tag": (*release).tag}[flags.Arg(0)]
	if work == nil || flags.NArg() != 1 {
		return fmt.Errorf("usage: modules [-C ROOT] check | tag")
	}
	modules, err := read(filepath.Join(*root, "tools", "versions.txt"))
	if err != nil {
		return err
	}
	r, err := prepare(*root, modules)
	if err != nil {
		return err
	}
	defer r.remove()
	return work(r)
}
