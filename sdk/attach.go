package sdk

import (
	"context"
	"errors"
	"fmt"
	"os"

	"google.golang.org/grpc"

	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// Attachment is a provider that answers on a gRPC server which somebody else runs.
type Attachment struct{ server *server }

// Attach registers the provider's services on s: the layer below [Main], for tests and for transports other than
// go-plugin. callbacks may be nil. The caller ends it with [Attachment.Close]. It panics, as Main does, when p has no
// operations.
func (p *Provider[C]) Attach(s grpc.ServiceRegistrar, callbacks CallbackDialer) *Attachment {
	p.mustServe()
	srv := p.server(callbacks)
	if srv.serves(false) {
		toolv1.RegisterToolServiceServer(s, toolService{server: srv})
	}
	if srv.serves(true) {
		slashcommandv1.RegisterSlashCommandServiceServer(s, commandService{server: srv})
	}
	return &Attachment{srv}
}

// mustServe panics when there is nothing to serve: no kernel would find a service, nor say why.
func (p *Provider[C]) mustServe() {
	if len(p.operations) == 0 {
		panic(fmt.Sprintf("sdk: provider %q has no operations: add one with Tool or Command", p.name))
	}
}

func (p *Provider[C]) server(callbacks CallbackDialer) *server {
	// Without a working directory relative paths fail on their own, with a better message.
	dir, _ := os.Getwd()
	p.started.Store(true)
	return newServer(p, Env{Dir: dir}, newCallbacks(callbacks))
}

var errClosed = errors.New("the provider is shutting down")

// Close cancels the calls that run, waits for them until their grace time is over or ctx ends, and runs the
// provider's Close function.
func (a *Attachment) Close(ctx context.Context) error { return a.server.shutdown(ctx, errClosed) }
