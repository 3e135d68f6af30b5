package sdk

import (
	"context"
	"io"
	"time"
)

// Reader reads from r until ctx ends, and then gives ctx.Err(), so that a loop over a large file, a pipe or a
// connection stops with its call. A Read that waits is woken where r has read deadlines, as pipes, terminals and
// connections do, which are Reader's to set from here on; any other Read is let finish. Close r yourself.
func Reader(ctx context.Context, r io.Reader) io.Reader {
	out := &contextReader{ctx: ctx, from: r}
	// A regular file has the method, but no deadlines.
	if d, ok := r.(deadliner); ok && d.SetReadDeadline(time.Time{}) == nil {
		out.deadline = d
	}
	return out
}

type deadliner interface{ SetReadDeadline(time.Time) error }

type contextReader struct {
	ctx      context.Context
	from     io.Reader
	deadline deadliner // nil when from cannot be woken
}

func (r *contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if r.deadline == nil {
		return r.from.Read(p)
	}
	woken := make(chan struct{})
	stop := context.AfterFunc(r.ctx, func() {
		defer close(woken)
		_ = r.deadline.SetReadDeadline(time.Unix(1, 0))
	})
	n, err := r.from.Read(p)
	if stop() {
		return n, err
	}
	<-woken
	_ = r.deadline.SetReadDeadline(time.Time{}) // it may be read on by somebody else
	if n > 0 {
		return n, nil
	}
	return 0, r.ctx.Err()
}
