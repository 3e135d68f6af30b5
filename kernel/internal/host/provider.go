package host

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	// defaultStartTimeout is for a cold disk and a busy machine; a provider that is well starts in a fraction.
	defaultStartTimeout = 30 * time.Second
)

// Configure turns the schema of a provider into its configuration. Nil stands for an empty one.
type Configure func(*configv1.ConfigSchema) (*structpb.Struct, error)

// Spec says how to start a provider. Name and Path are needed.
type Spec struct {
	Name string
	Path string
	// Checksum is the sha256 that the binary must have, in lower-case hex; empty when any will do. It is verified at each
	// start, and what was hashed is what runs. The cause of the failure otherwise is a *ChecksumError.
	Checksum string
	// Changed is told when the binary does not have the checksum, so that nobody goes on believing it has; nil tells nobody.
	Changed func()
	// Dir is the working directory of the process; empty for that of the kernel.
	Dir string
	// Env is set beside the few variables that every provider inherits.
	Env map[string]string
	// Log receives what the provider says; nil discards it.
	Log *slog.Logger
	// Known is what the provider said of itself when it last ran, if that is remembered: with it there are operations
	// before the first start. A start that finds something else goes by what it finds.
	Known *Introduction
	// Introduced is told what the provider says of itself at its first start, before it is configured; nil tells nobody.
	Introduced func(*Introduction)
	// Emit keeps the events that the provider emits; nil keeps none.
	Emit Emit
	// StartTimeout bounds the time from the start to the handshake. Default: 30 s.
	StartTimeout time.Duration
}

func (s Spec) withDefaults() Spec {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	s.Log = s.Log.With("provider", s.Name)
	if s.StartTimeout <= 0 {
		s.StartTimeout = defaultStartTimeout
	}
	return s
}

func (s Spec) failure(stage Stage, cause error) *StartError {
	return &StartError{Provider: s.Name, Path: s.Path, Stage: stage, Cause: cause}
}

// Provider is a provider across all its processes: the first is started when it is needed, and when one has died, the
// next call starts another. Its methods may be called from many goroutines.
type Provider struct {
	spec      Spec
	configure Configure

	stopping context.Context // done when the provider is closed
	stop     context.CancelCauseFunc

	mu       sync.Mutex
	info     Info
	found    discovery
	config   *structpb.Struct
	begun    bool     // there has been a process that was ready for calls
	life     *life    // the last process, which may have died; nil when there was none
	starting *attempt // at another one; nil when there is none
	starts   int64    // attempts so far
	loop     crashLoop
	refusal  error // of the configuration, at the last start
	closed   bool
	burials  sync.WaitGroup // of processes that another has taken the place of
}

// attempt is one start of a process. All calls that need the process wait for the same one.
type attempt struct {
	number int64         // of this start, from 1
	done   chan struct{} // closed when life or failed is set
	life   *life
	failed error
}

// ErrClosed is the answer of a provider that has been closed.
var ErrClosed = errors.New("the provider has been shut down")

// Prepare makes a provider that is not started before it is needed. What spec.Known says must keep to the protocol.
// configure is called once a first start has got as far as that: a restarted process gets the same configuration. The
// caller ends the provider with Close.
func Prepare(spec Spec, configure Configure) (*Provider, error) {
	p := &Provider{spec: spec.withDefaults(), configure: configure}
	p.info = Info{Name: spec.Name, Path: spec.Path}
	if spec.Known != nil {
		d, err := spec.Known.read(spec.Name)
		if err != nil {
			return nil, err
		}
		p.learn(d)
		p.spec.Log.Debug("the provider is known, and is started when it is needed", "path", spec.Path, "version", d.version())
	}
	p.stopping, p.stop = context.WithCancelCause(context.Background())
	return p, nil
}

// Start is Prepare and Ready: it launches a provider, asks what it serves and configures it. The error is a *StartError.
func Start(ctx context.Context, spec Spec, configure Configure) (*Provider, error) {
	p, err := Prepare(spec, configure)
	if err != nil {
		return nil, spec.failure(StageSchema, err)
	}
	if err := p.start(ctx); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// start is Ready for a process that nobody needs any more when ctx ends.
func (p *Provider) start(ctx context.Context) error {
	unbind := context.AfterFunc(ctx, func() { p.stop(context.Cause(ctx)) })
	_, err := p.ready(context.WithoutCancel(ctx))
	if !unbind() && err == nil {
		return p.spec.failure(StageConfigure, stoppedStart(ctx))
	}
	return err
}

// Ready returns when there is a process that can be called. Of a start that fails the error is a *StartError. When ctx
// ends, only the wait does: the start goes on, for the next call.
func (p *Provider) Ready(ctx context.Context) error {
	_, err := p.ready(ctx)
	return err
}

// Begun reports whether there has been a process that was ready for calls: what the provider offers stays as it is then.
func (p *Provider) Begun() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.begun
}

// Warm begins a start and does not wait for it.
func (p *Provider) Warm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _, _ = p.claim()
}

// learn takes what the provider says of itself for what is known of it.
func (p *Provider) learn(d discovery) {
	p.found = d
	p.info.Producers, p.info.Config = d.producers, d.config
}

// Info describes the provider as it was at its first start; before that, as it is known.
func (p *Provider) Info() Info {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.info
}

// Operations lists what the provider can be asked to do.
func (p *Provider) Operations() []Operation {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.found.operations
}

// ready returns a process to call, a new one when there is none or the last has died.
func (p *Provider) ready(ctx context.Context) (*life, error) {
	p.mu.Lock()
	l, a, err := p.claim()
	p.mu.Unlock()
	if a == nil {
		return l, err
	}
	select {
	case <-a.done:
		return a.life, a.failed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// claim returns the process that runs, or the attempt to start one, which it begins when it has to.
func (p *Provider) claim() (*life, *attempt, error) {
	switch {
	case p.closed:
		return nil, nil, ErrClosed
	case p.starting != nil:
		return nil, p.starting, nil
	case p.life != nil && p.life.usable():
		return p.life, nil, nil
	}
	if p.life == nil {
		if err := p.loop.broken(p.spec.Name, time.Now()); err != nil {
			return nil, nil, cmp.Or(p.refusal, err)
		}
	}
	p.starts++
	p.starting = &attempt{number: p.starts, done: make(chan struct{})}
	go p.attempt(p.starting, p.life)
	return nil, p.starting, nil
}

// attempt starts a process in the place of the last one, and adopts it unless the provider has been closed meanwhile.
func (p *Provider) attempt(a *attempt, last *life) {
	err := p.bury(last)
	var l *life
	if err == nil {
		var failed *StartError
		if l, failed = p.launch(p.stopping); failed != nil {
			failed.crash, err = a.number, failed
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.starting = nil
	defer close(a.done)
	switch {
	case crashOf(err) > 0:
		a.failed = err
		p.loop.add(time.Now(), errors.Unwrap(err).Error())
		p.refusal = nil
		if failed, _ := errors.AsType[*StartError](err); failed.Misconfigured() {
			p.refusal = err
		}
	case err != nil:
		a.failed = err
	case p.closed:
		l.dismiss()
		p.life, a.failed = l, ErrClosed
	default:
		l.crash = a.number
		p.life, a.life = l, l
	}
}

// bury waits for the end of the last process, since no two must run at once, and notes what it died of. It fails when there
// must not be another one now.
func (p *Provider) bury(last *life) error {
	if last == nil {
		return nil
	}
	if !last.process.awaitEnd(endPatience) {
		p.spec.Log.Warn("the last process of the provider does not end", "pid", last.process.ID())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	p.life = nil
	p.burials.Go(func() { last.end(0) })
	if !last.dismissed.Load() {
		p.loop.add(time.Now(), last.process.ending())
	}
	return p.loop.broken(p.spec.Name, time.Now())
}

// Kill ends the process at once. The provider can only be closed afterwards.
func (p *Provider) Kill() {
	if l, _ := p.retire(); l != nil {
		l.dismiss()
	}
}

// Close ends the process: gracefully when it leaves by itself within seconds. Nothing of it is left when Close
// returns. Calls that still run end as crashed, a start under way is stopped.
func (p *Provider) Close() {
	_, a := p.retire()
	if a != nil {
		<-a.done
	}
	if l, _ := p.retire(); l != nil {
		l.end(closeGrace)
	}
	p.burials.Wait()
}

func (p *Provider) retire() (*life, *attempt) {
	p.stop(ErrClosed)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return p.life, p.starting
}
