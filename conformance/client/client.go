// Package client is the smallest kernel: it launches a provider over go-plugin, serves its callbacks and speaks both
// services raw. It shares no code with the kernel or the SDK, so that a fault of theirs cannot hide one of a provider.
package client

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
)

// Options say what to launch. Path is required.
type Options struct {
	// Path of the provider's binary.
	Path string
	// Dir is the working directory, the one of this process when empty.
	Dir string
	// Env is added to the variables that every provider gets: PATH, HOME, TMPDIR, LANG and LC_*.
	Env []string
	// Stderr takes what the provider prints; nil drops it.
	Stderr io.Writer
}

// Provider is a running provider. It is safe for concurrent use; its owner closes it.
type Provider struct {
	Tools    toolv1.ToolServiceClient
	Commands slashcommandv1.SlashCommandServiceClient
	// Callbacks is what the provider has sent over the callback channel.
	Callbacks *Callbacks

	client  *goplugin.Client
	pid     int
	sockets string
}

// Launch starts a provider and completes the handshake. Nothing is asked or configured yet.
func Launch(o Options) (*Provider, error) {
	cmd := exec.Command(o.Path)
	cmd.Dir = o.Dir
	cmd.Env = append(environment(), o.Env...)
	// A provider that is killed leaves its sockets; in a folder of ours they go with the provider. It must be short:
	// the path of a socket has room for a hundred bytes.
	sockets, err := os.MkdirTemp("", "client")
	if err != nil {
		return nil, err
	}
	cmd.Env = append(cmd.Env, goplugin.EnvUnixSocketDir+"="+sockets)
	callbacks := newCallbacks()
	c := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: plugin.ProtocolVersion, MagicCookieKey: plugin.MagicCookieKey, MagicCookieValue: plugin.MagicCookieValue,
		},
		Plugins:          goplugin.PluginSet{plugin.Tool: &dispenser{callbacks: callbacks}},
		Cmd:              cmd,
		SkipHostEnv:      true,
		AutoMTLS:         true,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		Logger:           hclog.NewNullLogger(),
		Stderr:           o.Stderr,
	})
	conn, err := dispense(c)
	if err != nil {
		c.Kill()
		_ = os.RemoveAll(sockets)
		return nil, fmt.Errorf("launch %s: %w", o.Path, err)
	}
	return &Provider{
		Tools: toolv1.NewToolServiceClient(conn), Commands: slashcommandv1.NewSlashCommandServiceClient(conn),
		Callbacks: callbacks, client: c, pid: c.ReattachConfig().Pid, sockets: sockets,
	}, nil
}

func dispense(c *goplugin.Client) (*grpc.ClientConn, error) {
	protocol, err := c.Client()
	if err != nil {
		return nil, err
	}
	raw, err := protocol.Dispense(plugin.Tool)
	if err != nil {
		return nil, err
	}
	return raw.(*grpc.ClientConn), nil
}

// PID is the number of the provider's process.
func (p *Provider) PID() int { return p.pid }

// Exited reports whether the process has ended.
func (p *Provider) Exited() bool { return p.client.Exited() }

// Close asks the provider to end and kills it when it does not within go-plugin's two seconds.
func (p *Provider) Close() {
	p.client.Kill()
	_ = os.RemoveAll(p.sockets)
}

// environment is what the protocol lets every provider have of ours.
func environment() (out []string) {
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		switch {
		case name == "PATH", name == "HOME", name == "TMPDIR", name == "LANG", strings.HasPrefix(name, "LC_"):
			out = append(out, pair)
		}
	}
	return out
}

// dispenser gives the bare connection: both services are on it.
type dispenser struct {
	goplugin.NetRPCUnsupportedPlugin
	callbacks *Callbacks
	once      sync.Once
}

// GRPCServer exists because go-plugin wants both sides in one type.
func (*dispenser) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return fmt.Errorf("a client serves no plugin")
}

// GRPCClient serves the callbacks and hands out the connection.
func (d *dispenser) GRPCClient(_ context.Context, broker *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	d.once.Do(func() { go broker.AcceptAndServe(plugin.CallbackStreamID, d.callbacks.server) })
	return conn, nil
}
