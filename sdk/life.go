package sdk

import (
	"context"
	"sync"
)

// life is the time in which a provider works: from its start until somebody finishes it, and on until what has begun
// has ended.
type life struct {
	mu     sync.Mutex
	ctx    context.Context // ends when the provider must stop
	cancel context.CancelCauseFunc
	work   sync.WaitGroup
}

func newLife() *life {
	l := &life{}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	return l
}

// begin counts in what an RPC asks for. Its context ends with the RPC or the life, whichever is first. ok is false when
// the provider is ending: what it holds may be closed already. After true the caller calls end.
func (l *life) begin(rpc context.Context) (ctx context.Context, end func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		return rpc, nil, false
	}
	l.work.Add(1)
	ctx, cancel := context.WithCancelCause(rpc)
	stop := context.AfterFunc(l.ctx, func() { cancel(context.Cause(l.ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
		l.work.Done()
	}, true
}

// finish lets nothing begin any more, and gives a channel that is closed when everything that had begun has ended.
func (l *life) finish(cause error) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cancel(cause)
	ended := make(chan struct{})
	go func() {
		l.work.Wait()
		close(ended)
	}()
	return ended
}
