// Package engine ties a turn together: it starts the providers, checks a call, takes it through policy and gate,
// schedules it, runs it and says how it ended. It is what every face of the kernel stands on.
//
//	e, err := engine.Open(ctx, engine.Options{Providers: specs})
//	defer e.Close()
//	s := e.Session(engine.SessionOptions{Approver: approver})
//	op, err := s.Lookup("filesystem", "read_file")
//	outcome := s.Invoke(ctx, engine.Request{Operation: op, Arguments: args}, func(ev *toolv1.ToolEvent) { … })
//
// An Engine is the providers of a project, the rules they are called by, and the order of their calls. A Session is one
// conversation with them: any number of sessions share an engine.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/agentco/agent/kernel/internal/policy"
	"github.com/agentco/agent/kernel/internal/schedule"
	"github.com/agentco/agent/kernel/internal/secret"
)

// Engine is the providers of a project. Its methods may be called from many goroutines.
type Engine struct {
	log        *slog.Logger
	secrets    *secret.Set
	root       string
	workingDir string
	rules      *policy.Set
	providers  []provider // in the order of Options; those that failed are not there
	failed     []*StartError
	operations atomic.Pointer[[]Operation]
	listing    sync.Mutex // held while operations are listed anew
	schedule   schedule.Scheduler
	retry      schedule.Retry

	stopping context.Context // done when Close begins
	stop     context.CancelCauseFunc
	mu       sync.Mutex // guards closed, and that no call begins after it is set; and speaking
	closed   bool
	speaking map[string][]*Session // by id, once for each turn that runs
	calls    sync.WaitGroup
}

// Open starts all providers, in parallel, and returns when each of them is configured or has failed; see Options.Lazy.
// Policies that contradict each other are an error without an engine. When providers fail, the error joins a *StartError
// for each (Failures lists them), and the engine still serves the others: it is never nil then, and must be closed. A ctx
// that ends stops the starts; it does not bind the engine afterwards.
func Open(ctx context.Context, o Options) (*Engine, error) {
	rules, err := policy.New(o.Policies)
	if err != nil {
		return nil, err
	}
	e := &Engine{log: o.Log, secrets: o.Secrets, speaking: map[string][]*Session{}, rules: rules, retry: o.Retry}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	if e.secrets == nil {
		e.secrets = &secret.Set{}
	}
	if e.root, err = absolute(o.ProjectRoot, ""); err != nil {
		return nil, err
	}
	if e.workingDir, err = absolute(o.WorkingDir, e.root); err != nil {
		return nil, err
	}
	if !utf8.ValidString(e.workingDir) {
		return nil, fmt.Errorf("cannot work in %q: providers are told the folder as text in UTF-8, and its name is none: give it another name, or work in another folder with -C DIR", e.workingDir)
	}
	e.stopping, e.stop = context.WithCancelCause(context.Background())
	e.open(ctx, o)
	return e, e.startErrors()
}

func absolute(dir, fallback string) (string, error) {
	if dir == "" {
		dir = fallback
	}
	if dir == "" {
		return os.Getwd()
	}
	return filepath.Abs(dir)
}

// Providers describes the providers that did not fail to start, in the order of Options.
func (e *Engine) Providers() []Info {
	infos := make([]Info, len(e.providers))
	for i, p := range e.providers {
		infos[i] = p.Info()
	}
	return infos
}

// provider finds a provider. One that failed to start is an error that says so.
func (e *Engine) provider(name string) (provider, error) {
	for _, p := range e.providers {
		if p.name == name {
			return p, nil
		}
	}
	for _, f := range e.failed {
		if f.Provider == name {
			return provider{}, fmt.Errorf("provider %q could not be started", name)
		}
	}
	return provider{}, fmt.Errorf("there is no provider %q", name)
}

var errClosed = errors.New("the kernel is shutting down")

// Kill ends every provider process at once, without grace. Calls that run end as cancelled if they had been cancelled,
// else as crashed. The engine can only be closed afterwards.
func (e *Engine) Kill() {
	for _, p := range e.providers {
		p.Kill()
	}
}

// Close cancels the calls that still run, waits for their ends, and then ends the providers: gracefully where they let
// it, within seconds in any case. Nothing of them is left. It may be called more than once.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.stop(errClosed)
	e.calls.Wait()
	var wait sync.WaitGroup
	for _, p := range e.providers {
		wait.Go(p.Close)
	}
	wait.Wait()
}

// begin counts a turn, so that Close waits for it, and binds it to the life of the engine.
func (e *Engine) begin(ctx context.Context) (context.Context, func(), error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, nil, errClosed
	}
	e.calls.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	unbind := context.AfterFunc(e.stopping, func() { cancel(errClosed) })
	return ctx, func() {
		unbind()
		cancel(nil)
		e.calls.Done()
	}, nil
}
