//go:build unix

package install

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Executable says why a program could not be executed; nil when it could.
func Executable(path string) error {
	err := unix.Access(path, unix.X_OK)
	if err == nil {
		return nil
	}
	reason := err.Error()
	if onNoexec(path) {
		reason = "it is on a file system that is mounted noexec: set XDG_CACHE_HOME to a folder on another one"
	} else if info, statErr := os.Stat(path); statErr == nil {
		reason = fmt.Sprintf("its mode is %s: %s", info.Mode(), err)
	}
	return &Error{Code: NotExecutable, Attempted: "execute", On: path, Reason: reason, Err: err}
}
