package registry

import (
	"context"
	"sync"
)

// memo asks once for each key, also when several ask at the same time. Failures are not kept, and the cancellation of
// the one who asks is not that of the others.
type memo[T any] struct {
	mu    sync.Mutex
	calls map[string]*call[T]
}

type call[T any] struct {
	done  chan struct{}
	value T
	err   error
}

func (m *memo[T]) get(ctx context.Context, key string, ask func() (T, error)) (T, error) {
	for {
		c, mine := m.join(key)
		if mine {
			m.run(c, key, ask)
			return c.value, c.err
		}
		select {
		case <-c.done:
		case <-ctx.Done():
			var none T
			return none, cancelled(ctx, "wait for an answer", "")
		}
		if CodeOf(c.err) != Cancelled || ctx.Err() != nil {
			return c.value, c.err
		}
	}
}

// join is the call that is being made, or one to make.
func (m *memo[T]) join(key string) (c *call[T], mine bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c, ok := m.calls[key]; ok {
		return c, false
	}
	if m.calls == nil {
		m.calls = map[string]*call[T]{}
	}
	c = &call[T]{done: make(chan struct{})}
	m.calls[key] = c
	return c, true
}

func (m *memo[T]) run(c *call[T], key string, ask func() (T, error)) {
	defer close(c.done)
	if c.value, c.err = ask(); c.err != nil {
		m.mu.Lock()
		delete(m.calls, key)
		m.mu.Unlock()
	}
}
