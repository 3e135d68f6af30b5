//go:build unix

package cli

import "golang.org/x/sys/unix"

// keepOwnRights lets this process, and what it starts, use what they make, whatever the umask of whoever started it: one that
// takes our own rights away would leave folders that we cannot write into, in the middle of an install or for every later log.
func keepOwnRights() {
	const own = 0o700
	unix.Umask(unix.Umask(own) &^ own)
}
