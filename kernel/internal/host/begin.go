package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
)

// launch starts a process and takes it to being ready for calls. On failure nothing of it is left.
func (p *Provider) launch(ctx context.Context) (*life, *StartError) {
	if p.begun {
		p.spec.Log.Info("starting the provider again")
	}
	begin := time.Now()
	l, failed := launch(ctx, p.spec)
	if failed != nil {
		return nil, failed
	}
	if p.begun {
		failed = p.introduceAgain(ctx, l)
	} else {
		failed = p.introduce(ctx, l)
	}
	if failed == nil {
		p.spec.Log.Debug("the provider is ready", "path", p.spec.Path, "version", p.found.version(), "pid", l.process.ID(),
			"exec", l.spawned, "handshake", l.shook, "total", time.Since(begin))
		return l, nil
	}
	l.end(0)
	if ctx.Err() != nil {
		return nil, p.spec.failure(failed.Stage, stoppedStart(ctx))
	}
	if failed.Stage == StageSchema || failed.Stage == StageConfigure && failed.Rejection == nil {
		failed.Output = l.process.errors.lines()
	}
	return nil, failed
}

// introduce takes the first process from its handshake to being ready for calls.
func (p *Provider) introduce(ctx context.Context, l *life) *StartError {
	begin := time.Now()
	d, err := l.discover(ctx, p.spec.Name)
	if err != nil {
		return p.spec.failure(StageSchema, err)
	}
	asked := time.Now()
	// What is known stays when it is right, so that operations that were found before are still the same ones.
	if p.found.said == nil || !p.found.said.offersAs(d.said) {
		p.mu.Lock()
		p.learn(d)
		p.mu.Unlock()
	}
	if p.spec.Introduced != nil {
		p.spec.Introduced(d.said)
	}
	config := &structpb.Struct{}
	if p.configure != nil {
		if config, err = p.configure(d.config); err != nil {
			return p.spec.failure(StageConfig, err)
		}
	}
	if failed := l.configure(ctx, p.spec, config); failed != nil {
		return failed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.config, p.begun = config, true
	p.info.Timings = Timings{
		Exec: l.spawned, Handshake: l.shook, Schema: l.joined + asked.Sub(begin), Configure: time.Since(asked),
	}
	return nil
}

// introduceAgain does the same for a process that takes the place of a dead one. It has to be the same provider: what was
// approved and scheduled rests on what the first one said of itself.
func (p *Provider) introduceAgain(ctx context.Context, l *life) *StartError {
	d, err := l.discover(ctx, p.spec.Name)
	switch {
	case err != nil:
		return p.spec.failure(StageSchema, err)
	case !p.found.said.offersAs(d.said):
		return p.spec.failure(StageSchema, fmt.Errorf("%w: %s was replaced meanwhile, start the kernel again", errReplaced, p.spec.Path))
	}
	return l.configure(ctx, p.spec, p.config)
}

var errReplaced = errors.New("it offers other operations than at its first start")
