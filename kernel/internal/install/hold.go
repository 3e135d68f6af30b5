package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// retryHold is how often a lock that another process has is tried again.
const retryHold = 50 * time.Millisecond

// Hold is a set of locks on parts of the cache. The system gives them back when the process dies.
type Hold struct {
	locks []*flock.Flock
}

// Release gives the locks back. It may be called more than once.
func (h *Hold) Release() {
	for _, l := range slices.Backward(h.locks) {
		_ = l.Unlock()
	}
	h.locks = nil
}

// HoldProject makes this process the only one that installs for the project in root. waiting is called once when
// another one is at it. The error is that of ctx, or an *Error.
func (c Cache) HoldProject(ctx context.Context, root string, waiting func()) (*Hold, error) {
	//nolint:forbidigo // it names a lock, and nothing is opened by it
	if real, err := filepath.EvalSymlinks(root); err == nil { // whichever way it was come to
		root = real
	}
	return c.hold(ctx, waiting, []string{"project-" + short(root)})
}

// Hold makes this process the only one that installs these providers, and clears up what others left half done.
func (c Cache) Hold(ctx context.Context, waiting func(), keys ...Key) (*Hold, error) {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = "provider-" + short(k.folder())
	}
	// In one order, so that two processes never wait for each other.
	slices.Sort(names)
	h, err := c.hold(ctx, waiting, slices.Compact(names))
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		c.clear(k)
	}
	return h, nil
}

// Use keeps Prune waiting until what was installed is locked.
func (c Cache) Use(ctx context.Context) (*Hold, error) {
	l, err := c.lockFile("use")
	if err != nil {
		return nil, err
	}
	if _, err := l.TryRLockContext(ctx, retryHold); err != nil {
		return nil, c.holdFailed(ctx, l, err)
	}
	return &Hold{locks: []*flock.Flock{l}}, nil
}

// holdAll is for Prune.
func (c Cache) holdAll(ctx context.Context, waiting func()) (*Hold, error) {
	return c.hold(ctx, waiting, []string{"use"})
}

func (c Cache) hold(ctx context.Context, waiting func(), names []string) (*Hold, error) {
	h := &Hold{}
	for _, name := range names {
		l, err := c.lockFile(name)
		if err != nil {
			h.Release()
			return nil, err
		}
		ok, err := l.TryLock()
		if err == nil && !ok {
			if waiting != nil {
				waiting()
				waiting = nil
			}
			_, err = l.TryLockContext(ctx, retryHold)
		}
		if err != nil {
			h.Release()
			return nil, c.holdFailed(ctx, l, err)
		}
		h.locks = append(h.locks, l)
	}
	return h, nil
}

// lockFile is never removed: who holds it may have opened the one before.
func (c Cache) lockFile(name string) (*flock.Flock, error) {
	dir := filepath.Join(c.Dir, "locks")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, c.holdFailed(context.Background(), flock.New(dir), err)
	}
	l := flock.New(filepath.Join(dir, name))
	if err := regular(l.Path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, c.holdFailed(context.Background(), l, err)
	}
	return l, nil
}

func (c Cache) holdFailed(ctx context.Context, l *flock.Flock, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Error{Code: CacheFailed, Attempted: "lock the cache of providers", On: l.Path(), Reason: err.Error(), Err: err}
}

// clear removes what a process that died while it held the key left half done.
func (c Cache) clear(k Key) {
	dir := filepath.Dir(c.dir(k))
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), stagePrefix+part(k)) || strings.HasPrefix(e.Name(), gonePrefix+part(k)) {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:12])
}
