package sdk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/agentco/agent/proto/codec"
	"github.com/agentco/agent/proto/lean"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
	"github.com/agentco/agent/sdk/internal/stdout"
)

// receiveBytes is the largest message taken from a kernel. gRPC's own default of 4 MiB would refuse to write a
// file that is a little larger; a kernel that asks for more than this is at fault.
const receiveBytes = 64 << 20

// soft is the memory above which a provider collects garbage at once, unless it needs that much. Below it lies what a
// document of a few hundred kilobytes takes while it is parsed: with 20 MiB a draft of a changelog took half as long again.
const soft = 32 << 20

// stackBytes is what the stack of a goroutine may take. A function that calls itself without an end takes four times as much
// where nobody says otherwise, and ten seconds for it; a machine that is not large may end another process instead.
const stackBytes = 256 << 20

// streamWorkers is how many goroutines wait for calls, for the same reason as [workers] do. More calls get their own.
const streamWorkers = mostIdle

var (
	errKernelGone = errors.New("the kernel is gone")
	errTerminated = errors.New("the provider was told to terminate")
)

// Main serves p until the kernel ends it, and then exits the process. Started by hand, it says what it is instead;
// --version and --help work. Nothing that is printed can disturb the protocol: in a process that a kernel has started, what
// goes to standard output goes to standard error, before main too. From here on such a process has the kernel's cookie in its
// environment no more: what it starts is no provider.
//
// A provider that has nothing to do gives memory back: soon after its start, and when it has been quiet for some time. Above
// 32 MiB, garbage grows to half of what is in use, below to four times of it. GOGC decides that instead; GOMEMLIMIT or a call
// of [debug.SetMemoryLimit] sets another bound. The stack of a goroutine ends at 256 MiB, unless Setup calls [debug.SetMaxStack].
//
// When the kernel dies or SIGTERM comes, every call is cancelled, has its grace time to put things right, and the
// process ends.
func Main[C any](p *Provider[C]) {
	p.mustServe()
	if !stdout.StartedByKernel() {
		os.Exit(introduce(p.name, p.version, p.description, p.source, os.Args[1:], os.Stdout, os.Stderr))
	}
	kernel, err := stdout.Kept()
	if err != nil {
		fmt.Fprintf(os.Stderr, "provider %s: cannot keep standard output for the handshake: %v\n", p.name, err)
		os.Exit(1)
	}
	// When the kernel dies, standard error is a pipe that nobody reads, and a write to it would kill the process in
	// the middle of its cleaning up. Caught, not ignored: children of the provider start with the default.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	srv := p.server(nil)
	go endWith(srv)
	lean.Bound(soft)
	debug.SetMaxStack(stackBytes)
	go lean.Keep(context.Background())
	err = serve(srv, os.NewFile(kernel, "handshake"))
	srv.exit(errors.Join(err, srv.shutdown(context.Background(), errClosed)), 0)
}

// exit ends the process, with code unless err says why it failed.
func (s *server) exit(err error, code int) {
	if err != nil {
		s.callbacks.spill.printf("%v", err)
		code = 1
	}
	s.callbacks.spill.flush()
	os.Exit(code)
}

// endWith ends the process when the kernel dies or SIGTERM comes.
func endWith(srv *server) {
	parent := os.Getppid()
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	var cause error
	select {
	case <-parentDeath():
		cause = errKernelGone
	case <-terminated:
		cause = errTerminated
		if os.Getppid() != parent { // the signal is how Linux tells of its death
			cause = errKernelGone
		}
	}
	if errors.Is(cause, errKernelGone) {
		srv.callbacks.lose() // what goes to it is not waited for
	}
	srv.exit(srv.shutdownAlone(cause), 1)
}

// serve answers until the kernel asks for the end. The error is why it never did.
func serve(srv *server, kernel *os.File) error {
	out, ours := os.Stdout, os.Stderr
	h, err := newHandshake(kernel, ours)
	if err != nil {
		return err
	}
	var once sync.Once
	// go-plugin routes what is printed through pipes that only some kernels read, and a full pipe would stop the
	// provider. Standard error is drained by every kernel, and is where both go.
	keepStderr := func() { once.Do(func() { os.Stdout, os.Stderr = out, ours }) }
	plugins := goplugin.PluginSet{}
	if srv.serves(false) {
		plugins[plugin.Tool] = &category{server: srv, command: false}
	}
	if srv.serves(true) {
		plugins[plugin.SlashCommand] = &category{server: srv, command: true}
	}
	// go-plugin writes its handshake to os.Stdout, at once.
	os.Stdout = h.out
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: plugin.ProtocolVersion, MagicCookieKey: plugin.MagicCookieKey, MagicCookieValue: plugin.MagicCookieValue,
		},
		Plugins:     plugins,
		TLSProvider: h.secure,
		Logger:      hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: srv.callbacks.spill, JSONFormat: true}),
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(options,
				grpc.MaxRecvMsgSize(receiveBytes),
				grpc.StaticStreamWindowSize(plugin.StreamWindow), grpc.StaticConnWindowSize(plugin.ConnectionWindow),
				grpc.ForceServerCodecV2(codec.Codec{}),
				grpc.NumStreamWorkers(streamWorkers),
				grpc.UnaryInterceptor(func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
					keepStderr()
					return handle(ctx, request)
				}),
			)...)
		},
	})
	return h.refused
}

// category is one service of the provider as go-plugin sees it.
type category struct {
	goplugin.NetRPCUnsupportedPlugin
	server  *server
	command bool
}

// GRPCServer registers the service and takes the way back to the kernel.
func (c *category) GRPCServer(broker *goplugin.GRPCBroker, s *grpc.Server) error {
	c.server.callbacks.reachBy(func() (grpc.ClientConnInterface, error) {
		return broker.DialWithOptions(plugin.CallbackStreamID, grpc.WithNoProxy())
	})
	if c.command {
		slashcommandv1.RegisterSlashCommandServiceServer(s, commandService{server: c.server})
	} else {
		toolv1.RegisterToolServiceServer(s, toolService{server: c.server})
	}
	return nil
}

// GRPCClient exists because go-plugin wants both sides in one type. A provider is never a client of another.
func (c *category) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("a provider serves; it cannot be dispensed here")
}

// introduce answers a person who started the binary by hand.
func introduce(name, version, description, source string, args []string, out, err io.Writer) int {
	if len(args) > 0 && (args[0] == "--version" || args[0] == "-version" || args[0] == "version") {
		fmt.Fprintf(out, "%s %s\n", name, version)
		return 0
	}
	if source == "" {
		source = "github.com/OWNER/provider-" + name
	}
	w, code := err, 1
	if len(args) > 0 && (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
		w, code = out, 0
	}
	fmt.Fprintf(w, `%[1]s %[2]s: %[3]s

This is a provider: a kernel such as agent starts it and speaks to it. Name it in agent.hcl:

  required_providers {
    %[1]s = { source = %[4]q }
  }

and, while you work on it, point at this binary in the user's config.hcl:

  dev_overrides {
    %[1]s = %[5]q
  }
`, name, version, description, source, executable())
	return code
}

func executable() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return os.Args[0]
}
