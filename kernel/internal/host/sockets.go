package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// longestSocket is the shortest limit on the path of a Unix socket among the systems we run on, 104 with its NUL.
	longestSocket = 103
	// socketPrefix is ours alone: what is left of it by a kernel that was killed is removed by the next.
	socketPrefix = "agent-provider-"
	// socketSuffix is what is put below a base: our folder, go-plugin's and the socket, each with a random number.
	socketSuffix = len("/" + socketPrefix + "4294967295/plugin-dir4294967295/plugin4294967295")
	// staleAfter keeps the sweep away from a folder that its kernel has only just made and not locked yet.
	staleAfter = time.Minute
)

// socketFolder is where the sockets of one process are, for its owner alone. It is locked while its kernel lives.
type socketFolder struct {
	path string
	lock *os.File
}

// newSocketFolder makes a folder in which the path of a socket stays below the system's limit. A TMPDIR that is too
// deep is passed over.
func newSocketFolder() (*socketFolder, error) {
	var errs []error
	for _, base := range []string{os.TempDir(), os.Getenv("XDG_RUNTIME_DIR"), "/tmp"} {
		if base == "" {
			continue
		}
		// The provider works in another folder than the kernel, so a relative path would mean another one there.
		base, err := filepath.Abs(base)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if n := len(base) + socketSuffix; n > longestSocket {
			errs = append(errs, fmt.Errorf("%s would give a socket path of %d bytes, the limit is %d", base, n, longestSocket))
			continue
		}
		folder, err := newSocketFolderIn(base)
		if err == nil {
			return folder, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("there is no folder for the provider's socket, set TMPDIR to a short, writable one: %w", errors.Join(errs...))
}

func newSocketFolderIn(base string) (*socketFolder, error) {
	path, err := os.MkdirTemp(base, socketPrefix)
	if err != nil {
		return nil, err
	}
	sweepOnce.Do(func() { sweepSockets(base, time.Now().Add(-staleAfter)) })
	// Where folders cannot be locked the sweep finds nothing stale either.
	lock, _ := lockFolder(path)
	return &socketFolder{path: path, lock: lock}, nil
}

func (f *socketFolder) remove() {
	_ = os.RemoveAll(f.path)
	if f.lock != nil {
		_ = f.lock.Close()
	}
}

var sweepOnce sync.Once

// sweepSockets removes what kernels left behind that were killed: folders of ours that nobody has locked.
func sweepSockets(base string, before time.Time) {
	left, _ := filepath.Glob(filepath.Join(base, socketPrefix+"*"))
	for _, path := range left {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || !info.ModTime().Before(before) {
			continue
		}
		if lock, err := lockFolder(path); err == nil {
			_ = os.RemoveAll(path)
			_ = lock.Close()
		}
	}
}
