package host

import (
	"errors"
	"fmt"
	"os"
)

const (
	// longestSocket is the shortest limit on the path of a Unix socket among the systems we run on, 104 with its NUL.
	longestSocket = 103
	// socketSuffix is what is put below a base: our folder, go-plugin's and the socket, each with a random number.
	socketSuffix = len("/agent-4294967295/plugin-dir4294967295/plugin4294967295")
)

// socketFolder makes a folder, for its owner alone, in which the path of a socket stays below the system's limit. A
// TMPDIR that is too deep is passed over. The caller removes it.
func socketFolder() (string, error) {
	var errs []error
	for _, base := range []string{os.TempDir(), os.Getenv("XDG_RUNTIME_DIR"), "/tmp"} {
		if base == "" {
			continue
		}
		if n := len(base) + socketSuffix; n > longestSocket {
			errs = append(errs, fmt.Errorf("%s would give a socket path of %d bytes, the limit is %d", base, n, longestSocket))
			continue
		}
		dir, err := os.MkdirTemp(base, "agent-")
		if err == nil {
			return dir, nil
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("there is no folder for the provider's socket, set TMPDIR to a short, writable one: %w", errors.Join(errs...))
}
