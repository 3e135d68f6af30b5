// Package client is the smallest kernel: it launches a provider over go-plugin, serves its callbacks and speaks both
// services raw. It shares no code with the kernel or the SDK, so that a fault of theirs cannot hide one of a provider.
package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
)

// Provider is a running provider. It is safe for concurrent use; its owner closes it.
type Provider struct {
	Tools    toolv1.ToolServiceClient
	Commands slashcommandv1.SlashCommandServiceClient
	// Conn is the connection that both are on.
	Conn *grpc.ClientConn
	// Callbacks is what the provider has sent over the callback channel.
	Callbacks *Callbacks
	// Process is the provider's process.
	Process *Process

	client    *goplugin.Client
	announcer *announcer // nil when callbacks are not served
	synced    *syncedOutput
	temp      string // removed with the provider; empty when it is the caller's
	closing   sync.Once
}

// Launch starts a provider and completes the handshake. Nothing is asked or configured yet. An end of ctx ends the launch;
// a provider that was launched outlives it.
func Launch(ctx context.Context, o Options) (*Provider, error) {
	p := &Provider{Callbacks: newCallbacks(o.Delay), synced: &syncedOutput{}}
	if o.Temp == "" {
		// A provider that is killed leaves its sockets; in a folder of ours they go with the provider. It must be short:
		// the path of a socket has room for a hundred bytes.
		temp, err := os.MkdirTemp("", "client")
		if err != nil {
			return nil, err
		}
		p.temp = temp
	}
	d := &dispenser{provider: p, options: o}
	p.Process = newProcess(ctx, o.command(), o.Stderr)
	d.config = p.config(o, d)
	p.client = goplugin.NewClient(d.config)
	protocol, err := p.client.Client()
	if err == nil {
		_, err = protocol.Dispense(plugin.Tool)
	}
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("launch %s: %w", o.Path, errors.Join(ctx.Err(), err))
	}
	p.Process.free()
	return p, nil
}

func (p *Provider) config(o Options, d *dispenser) *goplugin.ClientConfig {
	sockets := p.temp
	if sockets == "" {
		sockets = o.Temp
	}
	var dial []grpc.DialOption
	if o.Heard != nil {
		dial = append(dial, grpc.WithStatsHandler(wiretap{o.Heard}))
	}
	return &goplugin.ClientConfig{
		HandshakeConfig: handshake(),
		Plugins:         goplugin.PluginSet{plugin.Tool: d},
		RunnerFunc: func(_ hclog.Logger, asked *exec.Cmd, _ string) (runner.Runner, error) {
			p.Process.cmd.Env = append(p.Process.cmd.Env, asked.Env...)
			return p.Process, nil
		},
		SkipHostEnv:      true,
		AutoMTLS:         !o.Plain,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: sockets},
		Logger:           hclog.NewNullLogger(),
		StartTimeout:     o.Timeout,
		SyncStdout:       p.synced,
		GRPCDialOptions:  dial,
	}
}

// PID is the number of the provider's process.
func (p *Provider) PID() int { return p.Process.PID() }

// Exited reports whether the process has ended.
func (p *Provider) Exited() bool {
	select {
	case <-p.Process.Exited():
		return true
	default:
		return false
	}
}

// Printed is what the provider printed on stdout after the handshake, directly or by way of go-plugin.
func (p *Provider) Printed() string { return p.Process.Printed() + p.synced.String() }

// Dialled reports whether the provider has connected to the callback stream, let in or not.
func (p *Provider) Dialled() bool {
	if p.announcer == nil {
		return false
	}
	select {
	case <-p.announcer.taken:
		return true
	default:
		return false
	}
}

// OwnsSocket reports whether a socket is one that callbacks are served on.
func (p *Provider) OwnsSocket(path string) bool { return p.announcer != nil && p.announcer.owns(path) }

// Abandon drops the connection without a word, as a kernel that is killed does. Close must still be called.
func (p *Provider) Abandon() {
	if p.announcer != nil {
		p.announcer.server.Stop()
	}
	_ = p.Conn.Close()
}

// Close asks the provider to end and kills it when it does not within go-plugin's two seconds. Further calls do nothing.
func (p *Provider) Close() {
	p.closing.Do(func() {
		p.client.Kill()
		if p.announcer != nil {
			p.announcer.close()
		}
		if p.temp != "" {
			_ = os.RemoveAll(p.temp)
		}
	})
}

// dispenser takes the bare connection: both services are on it.
type dispenser struct {
	goplugin.NetRPCUnsupportedPlugin
	provider *Provider
	options  Options
	config   *goplugin.ClientConfig
}

// GRPCServer exists because go-plugin wants both sides in one type.
func (*dispenser) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return fmt.Errorf("a client serves no plugin")
}

// GRPCClient takes the connection and serves the callbacks.
func (d *dispenser) GRPCClient(_ context.Context, broker *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	p := d.provider
	p.Conn, p.Tools, p.Commands = conn, toolv1.NewToolServiceClient(conn), slashcommandv1.NewSlashCommandServiceClient(conn)
	if d.options.Mute {
		return p, nil
	}
	var options []grpc.ServerOption
	if tls := d.config.TLSConfig; tls != nil { // what AutoMTLS made; the provider trusts it for callbacks too
		options = append(options, grpc.Creds(&doorkeeper{credentials.NewTLS(tls), p.Callbacks}))
	}
	if d.options.Heard != nil {
		options = append(options, grpc.StatsHandler(wiretap{d.options.Heard}))
	}
	p.announcer = announce(broker, p.Callbacks.server(options))
	return p, nil
}

// syncedOutput keeps what go-plugin brings of the provider's stdout.
type syncedOutput struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write keeps b.
func (s *syncedOutput) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if room := kept - s.buf.Len(); room > 0 {
		s.buf.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

// String is what was kept.
func (s *syncedOutput) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}
