// Command filesystem is the provider with which agents read and change files.
//
// Each operation is a file of its own: read_file.go, write_file.go and so on.
// They are thin over the rooms in internal, and see the disk only as an
// afero.Fs:
//
//	operation ──▶ workspace ──▶ jail (where a path leads, and whether it may)
//	                  │     ├─▶ text, edit, diff (what bytes say; pure)
//	                  │     ├─▶ atomicfile (old or new, never between; several as one)
//	                  │     ├─▶ undo (what changes have replaced)
//	                  │     └─▶ ledger (what a session has seen; who writes now)
//	                  └ the configuration of one running provider
//
// What models are told about an operation is in descriptions.
package main

import "github.com/agentco/agent/sdk"

// version is set by the linker.
var version string

func main() { sdk.Main(provider()) }
