package sdk

import (
	"context"
	"errors"
	"io"

	"google.golang.org/protobuf/types/known/structpb"
)

// configured is a configuration in use.
type configured struct {
	value  any // a *C
	close  func() error
	opened []io.Closer
}

// configured decodes the provider block and has Setup prepare it. What was opened for a configuration that Setup
// refuses is closed again.
func (p *Provider[C]) configured(ctx context.Context, in *structpb.Struct, env Env) (c *configured, err error) {
	cfg := new(C)
	opened, err := p.config.Decode(in, cfg, env.Dir)
	if err != nil {
		return nil, err
	}
	refused := true
	defer func() {
		if refused {
			_ = closeAll(opened)
		}
	}()
	if p.setup != nil {
		if err := p.setup(ctx, cfg, env); err != nil {
			return nil, err
		}
	}
	refused = false
	c = &configured{value: cfg, opened: opened, close: func() error { return nil }}
	if p.close != nil {
		c.close = func() error { return p.close(cfg) }
	}
	return c, nil
}

// release runs the provider's Close function, then closes what decoding has opened.
func (c *configured) release(provider string) error {
	if c == nil {
		return nil
	}
	_, err := apart("close "+provider, func() (struct{}, error) { return struct{}{}, c.close() })
	return errors.Join(err, closeAll(c.opened))
}

func closeAll(opened []io.Closer) error {
	var err error
	for _, o := range opened {
		err = errors.Join(err, o.Close())
	}
	return err
}
