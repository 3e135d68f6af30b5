package registry

import "sync"

// memo asks once for each key, also when several ask at the same time. Failures are not kept.
type memo[T any] struct {
	mu    sync.Mutex
	calls map[string]*call[T]
}

type call[T any] struct {
	done  chan struct{}
	value T
	err   error
}

func (m *memo[T]) get(key string, ask func() (T, error)) (T, error) {
	m.mu.Lock()
	if c, ok := m.calls[key]; ok {
		m.mu.Unlock()
		<-c.done
		return c.value, c.err
	}
	if m.calls == nil {
		m.calls = map[string]*call[T]{}
	}
	c := &call[T]{done: make(chan struct{})}
	m.calls[key] = c
	m.mu.Unlock()
	defer close(c.done)
	if c.value, c.err = ask(); c.err != nil {
		m.mu.Lock()
		delete(m.calls, key)
		m.mu.Unlock()
	}
	return c.value, c.err
}
