package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	// defaultStartTimeout is for a cold disk and a busy machine; a provider that is well starts in a fraction.
	defaultStartTimeout = 30 * time.Second
	// crashLimit crashes within crashWindow end the restarts until the first of them is that long ago.
	crashLimit  = 3
	crashWindow = time.Minute
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
	// Dir is the working directory of the process; empty for that of the kernel.
	Dir string
	// Env is set beside the few variables that every provider inherits.
	Env map[string]string
	// Log receives what the provider says; nil discards it.
	Log *slog.Logger
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

// Provider is a provider across all its processes: when one has died, the next call starts another. Its methods may
// be called from many goroutines.
type Provider struct {
	spec       Spec
	info       Info
	operations []Operation
	offers     []offer
	config     *structpb.Struct

	starting sync.Mutex // held while a process is started

	mu      sync.Mutex
	life    *life
	crashes []crash
	closed  bool
}

type crash struct {
	at     time.Time
	ending string
}

// ErrClosed is the answer of a provider that has been closed.
var ErrClosed = errors.New("the provider has been shut down")

// Start launches a provider, asks what it serves and configures it. configure is called once: a restarted process
// gets the same configuration. The error is a *StartError. The caller ends the provider with Close.
func Start(ctx context.Context, spec Spec, configure Configure) (*Provider, error) {
	p := &Provider{spec: spec.withDefaults()}
	l, failed := launch(ctx, p.spec)
	if failed != nil {
		return nil, failed
	}
	if failed := p.introduce(ctx, l, configure); failed != nil {
		l.end(0)
		if ctx.Err() != nil {
			return nil, p.spec.failure(failed.Stage, stoppedStart(ctx))
		}
		if failed.Stage == StageSchema || failed.Stage == StageConfigure && failed.Rejection == nil {
			failed.Output = l.process.errors.lines()
		}
		return nil, failed
	}
	p.life = l
	return p, nil
}

// introduce takes a fresh process from its handshake to being ready for calls.
func (p *Provider) introduce(ctx context.Context, l *life, configure Configure) *StartError {
	begin := time.Now()
	d, err := l.discover(ctx, p.spec.Name)
	if err != nil {
		return p.spec.failure(StageSchema, err)
	}
	asked := time.Now()
	p.operations, p.offers, p.config = d.operations, d.offers, &structpb.Struct{}
	if configure != nil {
		if p.config, err = configure(d.config); err != nil {
			return p.spec.failure(StageConfig, err)
		}
	}
	if failed := l.configure(ctx, p.spec, p.config); failed != nil {
		return failed
	}
	p.info = Info{Name: p.spec.Name, Path: p.spec.Path, Producers: d.producers, Config: d.config, Timings: Timings{
		Exec: l.spawned, Handshake: l.shook, Schema: l.joined + asked.Sub(begin), Configure: time.Since(asked),
	}}
	return nil
}

// Info describes the provider as it was at its first start.
func (p *Provider) Info() Info { return p.info }

// Operations lists what the provider can be asked to do.
func (p *Provider) Operations() []Operation { return p.operations }

// ready returns a process to call, a new one when the last has died.
func (p *Provider) ready(ctx context.Context) (*life, error) {
	if l, err := p.current(); l != nil || err != nil {
		return l, err
	}
	p.starting.Lock()
	defer p.starting.Unlock()
	l, err := p.current() // another call may have started one meanwhile
	if l != nil || err != nil {
		return l, err
	}
	if err := p.mayRestart(time.Now()); err != nil {
		return nil, err
	}
	p.spec.Log.Info("starting the provider again")
	if l, err = p.restart(ctx); err != nil {
		return nil, err
	}
	return l, p.adopt(l)
}

// current is the process that runs; nil without an error when it has died.
func (p *Provider) current() (*life, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, ErrClosed
	case p.life != nil && p.life.alive():
		return p.life, nil
	case p.life != nil:
		p.crashes = append(p.crashes, crash{at: time.Now(), ending: p.life.process.ending()})
		p.life = nil
	}
	return nil, nil
}

func (p *Provider) adopt(l *life) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.life = l
	if p.closed {
		l.process.kill()
		return ErrClosed
	}
	return nil
}

// mayRestart refuses a provider that keeps dying, which would otherwise cost a start at every call.
func (p *Provider) mayRestart(now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.crashes) > 0 && now.Sub(p.crashes[0].at) > crashWindow {
		p.crashes = p.crashes[1:]
	}
	if len(p.crashes) < crashLimit {
		return nil
	}
	return fmt.Errorf("provider %q died %d times within %s (last: %s) and is left alone for another %s: its log says what it died of",
		p.spec.Name, len(p.crashes), crashWindow, p.crashes[len(p.crashes)-1].ending,
		(crashWindow - now.Sub(p.crashes[0].at)).Round(time.Second))
}

// restart starts a process that takes the place of a dead one. It has to be the same provider: what was approved and
// scheduled rests on what the first one said of itself.
func (p *Provider) restart(ctx context.Context) (*life, error) {
	l, failed := launch(ctx, p.spec)
	if failed != nil {
		return nil, failed
	}
	d, err := l.discover(ctx, p.spec.Name)
	switch {
	case err != nil:
		failed = p.spec.failure(StageSchema, err)
	case !sameOffers(p.offers, d.offers):
		failed = p.spec.failure(StageSchema, fmt.Errorf("%s offers other operations than at its first start: it was replaced meanwhile, start the kernel again", p.spec.Path))
	default:
		failed = l.configure(ctx, p.spec, p.config)
	}
	if failed != nil {
		l.end(0)
		return nil, failed
	}
	return l, nil
}

// Kill ends the process at once. The provider can only be closed afterwards.
func (p *Provider) Kill() {
	if l := p.retire(); l != nil {
		l.process.kill()
	}
}

// Close ends the process: gracefully when it leaves by itself within seconds. Nothing of it is left when Close
// returns. Calls that still run end as crashed.
func (p *Provider) Close() {
	p.retire()
	// A start under way has its process adopted, and killed, before the lock is free.
	p.starting.Lock()
	defer p.starting.Unlock()
	if l := p.retire(); l != nil {
		l.end(closeGrace)
	}
}

func (p *Provider) retire() *life {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return p.life
}
