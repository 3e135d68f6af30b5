package runner

import (
	"fmt"
	"strings"
)

// StuckError says that something of a command is left, which goes on being killed: it has rights that this process has
// not, as what sudo starts, or it waits in the system for something such as a dead disk.
type StuckError struct {
	Left   []int // process ids, if they are known
	Exited bool  // whether the shell is not among it, so that its Status is known
}

// Error names what is left, and why that may be.
func (e *StuckError) Error() string {
	what := "a process of it"
	if len(e.Left) > 0 {
		what = "of it " + strings.Trim(fmt.Sprint(e.Left), "[]")
	}
	return what + " does not die of SIGKILL: it has other rights than this provider, as what sudo starts, or waits for a device"
}
