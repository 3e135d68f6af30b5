package registry

import (
	"context"
	"errors"
	"io"
	"time"
)

// body is a response's body that is cut when nothing arrives for a while, however slowly it does otherwise.
type body struct {
	io.ReadCloser
	live    context.Context
	watch   *time.Timer
	stall   time.Duration
	release func()
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.watch.Reset(b.stall)
	}
	if why := context.Cause(b.live); err != nil && err != io.EOF && (errors.Is(why, errStalled) || errors.Is(why, errSlow)) {
		err = why
	}
	return n, err
}

func (b *body) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}
