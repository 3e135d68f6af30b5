package floor

import (
	"context"
	"os/exec"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// Handshake is that of cmd/floorplugin.
var Handshake = goplugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "FLOOR", MagicCookieValue: "floor"}

// Plugin is the service as go-plugin wants it, on both sides.
type Plugin struct {
	goplugin.NetRPCUnsupportedPlugin
}

// GRPCServer registers the service.
func (Plugin) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	s.RegisterService(&service, server{})
	return nil
}

// GRPCClient gives a Client.
func (Plugin) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return Client{c}, nil
}

// Started is a provider process with its client.
type Started struct {
	Client
	PID int
	// Kill ends the process.
	Kill func()
}

// Start starts the provider binary with mutual TLS, as the kernel starts its own.
func Start(binary string) (*Started, error) {
	c := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: Handshake, Plugins: goplugin.PluginSet{"floor": Plugin{}}, Cmd: exec.Command(binary),
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC}, AutoMTLS: true, Logger: hclog.NewNullLogger(),
	})
	protocol, err := c.Client()
	if err != nil {
		c.Kill()
		return nil, err
	}
	service, err := protocol.Dispense("floor")
	if err != nil {
		c.Kill()
		return nil, err
	}
	return &Started{Client: service.(Client), PID: c.ReattachConfig().Pid, Kill: c.Kill}, nil
}
