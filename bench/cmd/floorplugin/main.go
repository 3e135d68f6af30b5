// Command floorplugin is the smallest provider over go-plugin. It imports nothing that it does not need, so that its start
// is that of any plugin.
package main

import (
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/agentco/agent/bench/internal/floor"
)

func main() {
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: floor.Handshake, Plugins: goplugin.PluginSet{"floor": floor.Plugin{}}, GRPCServer: goplugin.DefaultGRPCServer,
	})
}
