// Package hosttest is a provider for tests of the kernel: real processes, made by running the test binary again, that
// speak the wire protocol through its generated code alone. They behave, or misbehave, as they are told.
//
//	func TestMain(m *testing.M) { hosttest.Main(m) }
//
//	p, err := host.Start(ctx, host.Spec{Name: "fixture", Path: hosttest.Path(), Env: hosttest.Env(hosttest.Good)}, nil)
package hosttest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/agentco/agent/proto/plugin"
	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
)

// Mode is how the provider behaves in its start.
type Mode string

// The modes. The operations of a Good provider misbehave one by one.
const (
	Good Mode = "good"
	// ToolsOnly serves no commands.
	ToolsOnly Mode = "tools-only"
	// Chatty prints before its handshake.
	Chatty Mode = "chatty"
	// Silent never shakes hands.
	Silent Mode = "silent"
	// Dying ends at once, with words on stderr.
	Dying Mode = "dying"
	// Future speaks a later version of the runtime protocol.
	Future Mode = "future"
	// Useless serves no category at all.
	Useless Mode = "useless"
	// Lying offers operations that break the protocol.
	Lying Mode = "lying"
	// Fragile dies when it is configured.
	Fragile Mode = "fragile"
	// Thinking never says what it offers.
	Thinking Mode = "thinking"
	// Stuck never accepts its configuration.
	Stuck Mode = "stuck"
	// Curt refuses its configuration without a word.
	Curt Mode = "curt"
	// Harmless says of all its tools that they only read.
	Harmless Mode = "harmless"
	// Mute answers everything but has no way back to the kernel.
	Mute Mode = "mute"
)

const (
	modeVariable = "HOSTTEST_MODE"
	mainVariable = "HOSTTEST_MAIN"
)

// Path is the binary of the provider: the test binary itself.
func Path() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// Env is what makes the test binary a provider of the mode.
func Env(m Mode) map[string]string { return map[string]string{modeVariable: string(m)} }

// MainEnv is the variable that makes the test binary run one of the mains given to Main.
func MainEnv(name string) string { return mainVariable + "=" + name }

// Main runs the tests, and checks that they leave no goroutine; or, in a process that a test has started, the
// provider or one of the mains.
func Main(m *testing.M, mains ...func() (name string, main func())) {
	if os.Getenv(plugin.MagicCookieKey) == plugin.MagicCookieValue {
		serve(Mode(os.Getenv(modeVariable)))
		os.Exit(0)
	}
	for _, f := range mains {
		if name, main := f(); name == os.Getenv(mainVariable) {
			main()
			os.Exit(0)
		}
	}
	goleak.VerifyTestMain(m)
}

// stderr is the process's own: go-plugin replaces os.Stderr by a stream that loses what is written just before an exit.
var stderr = os.Stderr

func serve(m Mode) {
	version := uint(plugin.ProtocolVersion)
	switch m {
	case Chatty:
		fmt.Println("debug: \x1b[31mhello\x1b[0m")
	case Silent:
		time.Sleep(time.Hour)
	case Dying:
		fmt.Fprintln(stderr, "cannot find the moon")
		os.Exit(3)
	case Future:
		version++
	}
	f := &fixture{mode: m}
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: version, MagicCookieKey: plugin.MagicCookieKey, MagicCookieValue: plugin.MagicCookieValue,
		},
		Plugins: goplugin.PluginSet{"fixture": &bridge{fixture: f}},
		Logger:  hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: os.Stderr, JSONFormat: true}),
		GRPCServer: func(o []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(o, grpc.MaxRecvMsgSize(128<<20), grpc.MaxSendMsgSize(128<<20))...)
		},
	})
}
