package sdk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	"github.com/agentco/agent/sdk/internal/secret"
	"github.com/agentco/agent/sdk/internal/suggest"
)

var (
	errCallOver  = errors.New("the call is over")
	errNoPreview = errors.New("the operation has no preview")
)

// server answers the RPCs of both services for one provider. It knows operations only with their types forgotten.
type server struct {
	name, version, source string
	schema                *configv1.ConfigSchema
	operations            []operation
	callbacks             *callbacks
	secrets               *secret.Set // what Configure was given that must not be sent
	turns                 turns
	workers               *workers
	kept                  kept
	endings               endings
	hidden                func(*structpb.Struct) []string
	decode                func(context.Context, *structpb.Struct) (*configured, error)

	configuring sync.Mutex       // held while Setup runs
	block       *structpb.Struct // what config was made of

	mu       sync.Mutex
	config   *configured // nil until Configure has succeeded
	released bool        // the provider has ended, and config with it

	life  *life
	grace time.Duration

	ended    sync.Once
	endError error
}

func newServer[C any](p *Provider[C], env Env, c *callbacks) *server {
	s := &server{
		name: p.name, version: p.version, source: p.source,
		schema: p.config.Schema, operations: p.operations, callbacks: c, secrets: c.secrets, grace: graceTime, life: newLife(),
		hidden: p.config.Secrets,
		decode: func(ctx context.Context, in *structpb.Struct) (*configured, error) { return p.configured(ctx, in, env) },
	}
	s.workers = newWorkers(s.life.ctx)
	for _, op := range s.operations {
		s.turns.anyAlone = s.turns.anyAlone || !op.about().concurrency.GetSafe()
	}
	return s
}

// serves reports whether the provider has operations of a service.
func (s *server) serves(command bool) bool {
	return slices.ContainsFunc(s.operations, func(op operation) bool { return op.about().command == command })
}

// find returns the operation, or an error that names the nearest one.
func (s *server) find(command bool, name string) (operation, error) {
	var names []string
	for _, op := range s.operations {
		if about := op.about(); about.command == command {
			if about.name == name {
				return op, nil
			}
			names = append(names, about.name)
		}
	}
	hint := "it has " + strings.Join(names, ", ")
	if best := suggest.Nearest(name, names); best != "" {
		hint = "did you mean " + best + "?"
	}
	return nil, (&Error{
		Category: CategoryInvalidArguments,
		Message:  fmt.Sprintf("provider %s has no operation %q; %s", s.name, name, hint),
	}).With("operation", name)
}

func (s *server) configuration() (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.config == nil {
		return nil, Failed("provider %s has not been configured; the kernel must call Configure first", s.name)
	}
	return s.config.value, nil
}

func (s *server) producer(category commonv1.Category) *commonv1.ProducerRef {
	return &commonv1.ProducerRef{Name: s.name, Version: s.version, Source: s.source, Category: category, ProtocolVersion: 1}
}

// configure decodes the provider block and prepares the provider, once. A kernel that configures each service of
// one process by itself is welcome as long as it says the same.
func (s *server) configure(rpc context.Context, in *structpb.Struct) error {
	ctx, end, ok := s.life.begin(rpc)
	if !ok {
		return s.ending()
	}
	defer end()
	s.configuring.Lock()
	defer s.configuring.Unlock()
	if _, missing := s.configuration(); missing == nil {
		if proto.Equal(s.block, in) {
			return nil
		}
		return Failed("provider %s has been configured already; a new configuration needs a new process", s.name)
	}
	s.secrets.Hide(s.hidden(in))
	config, err := apart("configure "+s.name, func() (*configured, error) { return s.decode(ctx, in) })
	if err != nil {
		return err
	}
	s.block = in
	return s.use(config)
}

// use makes a configuration the provider's. One that was ready too late is released at once.
func (s *server) use(config *configured) error {
	s.mu.Lock()
	late := s.released
	if !late {
		s.config = config
	}
	s.mu.Unlock()
	if late {
		return errors.Join(s.ending(), config.release(s.name))
	}
	return nil
}

// ending is the error of what is asked of a provider that is ending.
func (s *server) ending() error {
	return Failed("provider %s is ending; nothing was done", s.name).Retry()
}

// shutdown cancels every call, waits for them until the grace time is over or ctx ends, and releases what the
// provider holds. Whoever comes second waits for the first and gets the same answer.
func (s *server) shutdown(ctx context.Context, cause error) error {
	s.ended.Do(func() { s.endError = s.end(ctx, cause) })
	return s.endError
}

// closeTime is what a provider's Close function has when nobody is left to end a process that does not end itself.
const closeTime = 5 * time.Second

// shutdownAlone is shutdown, and does not wait for ever for a Close function.
func (s *server) shutdownAlone(cause error) error {
	ended := make(chan error, 1)
	go func() { ended <- s.shutdown(context.Background(), cause) }()
	timer := time.NewTimer(s.grace + time.Second + closeTime)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return fmt.Errorf("provider %s: its Close function went on for too long and was abandoned", s.name)
	}
}

func (s *server) end(ctx context.Context, cause error) (err error) {
	done := s.life.finish(cause)
	timer := time.NewTimer(s.grace + time.Second)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		err = fmt.Errorf("provider %s: calls still running after the grace time were abandoned", s.name)
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.mu.Lock()
	config := s.config
	s.released = true
	s.mu.Unlock()
	if err = errors.Join(err, config.release(s.name), s.callbacks.close()); err != nil && !s.secrets.Empty() {
		err = errors.New(s.secrets.Text(err.Error()))
	}
	return err
}
