package registry

import (
	"context"
	"errors"
	"io"
	"time"
)

// leastBytes is what must arrive within StallTimeout: a server that sends a byte now and then has stalled, too.
const leastBytes = 1 << 10

// body is a response's body that is cut when next to nothing arrives for a while.
type body struct {
	io.ReadCloser
	fresh   int // bytes since the watch was set
	live    context.Context
	watch   *time.Timer
	stall   time.Duration
	release func()
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.fresh += n; b.fresh >= leastBytes {
		b.fresh = 0
		b.watch.Reset(b.stall)
	}
	if why := context.Cause(b.live); err != nil && !errors.Is(err, io.EOF) && (errors.Is(why, errStalled) || errors.Is(why, errSlow)) {
		err = why
	}
	return n, err
}

func (b *body) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}
