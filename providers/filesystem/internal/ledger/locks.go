package ledger

import (
	"context"
	"slices"
	"sync"
)

// Locks holds one lock per path, while someone wants it. The zero value is
// ready; it is safe for concurrent use.
type Locks struct {
	mu   sync.Mutex
	held map[string]*lock
}

type lock struct {
	free    chan struct{} // holds one token when nobody has the lock
	wanting int
}

// Lock waits for the lock of path, or for the end of ctx. Unlock is called once.
func (l *Locks) Lock(ctx context.Context, path string) (unlock func(), err error) {
	k := l.want(path)
	select {
	case <-k.free:
		return func() {
			k.free <- struct{}{}
			l.leave(path, k)
		}, nil
	case <-ctx.Done():
		l.leave(path, k)
		return nil, ctx.Err()
	}
}

// LockAll is Lock for several paths at once, in an order that is the same for
// all callers: two of them never wait for each other.
func (l *Locks) LockAll(ctx context.Context, paths ...string) (unlock func(), err error) {
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	var ends []func()
	unlock = func() {
		for _, end := range slices.Backward(ends) {
			end()
		}
	}
	for _, path := range paths {
		end, err := l.Lock(ctx, path)
		if err != nil {
			unlock()
			return nil, err
		}
		ends = append(ends, end)
	}
	return unlock, nil
}

func (l *Locks) want(path string) *lock {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.held[path]
	if k == nil {
		k = &lock{free: make(chan struct{}, 1)}
		k.free <- struct{}{}
		if l.held == nil {
			l.held = map[string]*lock{}
		}
		l.held[path] = k
	}
	k.wanting++
	return k
}

func (l *Locks) leave(path string, k *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.wanting--; k.wanting == 0 {
		delete(l.held, path)
	}
}
