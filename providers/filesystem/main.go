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

import (
	"os"
	"runtime/debug"

	"github.com/agentco/agent/sdk"
)

// version is set by the linker.
var version string

// soft is the memory above which garbage is collected at once. Files come and go
// in bulk: without it as much garbage as there is in use would lie about.
const soft = 20 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(soft)
	}
	sdk.Main(provider())
}
