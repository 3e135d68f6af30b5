package host

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentco/agent/proto/codec"
	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	"github.com/agentco/agent/proto/plugin"
	"github.com/agentco/agent/proto/plugin/mtls"
	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
)

const (
	// messageLimit bounds one gRPC message in either direction. gRPC's own 4 MiB would refuse a large file, and
	// go-plugin's two gigabytes would let a provider take all memory.
	messageLimit = 64 << 20
	// closeGrace is how long a provider may take to leave: the grace time of a call that it has to end, and a little.
	closeGrace = 7 * time.Second
)

// life is one process of a provider, connected.
type life struct {
	process   *process
	client    *goplugin.Client
	conn      *grpc.ClientConn
	callbacks *callbacks
	announcer *announcer
	sockets   *socketFolder
	serves    []category
	spawned   time.Duration // from the request to the existing process
	shook     time.Duration // from there to the handshake
	joined    time.Duration // from there to the connection

	crash     int64         // what its death is known by
	severed   chan struct{} // closed when the connection has ended, whether the process has or not
	dismissed atomic.Bool   // set before the process is ended by us, who need it no more
	suspected atomic.Bool   // while it is asked whether it is there
	// cutOff is set before the process is ended by us, since it lives on and is of no use: what it did.
	cutOff  atomic.Pointer[string]
	leaving atomic.Bool // set before the connection is closed by us
	ending  sync.Once
}

// bridge is how go-plugin hands over the connection and the broker.
type bridge struct {
	goplugin.NetRPCUnsupportedPlugin
}

type link struct {
	broker *goplugin.GRPCBroker
	conn   *grpc.ClientConn
}

// GRPCServer exists because go-plugin wants both sides in one type.
func (bridge) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return fmt.Errorf("the kernel is not a provider")
}

// GRPCClient hands over what every service of the provider shares.
func (bridge) GRPCClient(_ context.Context, broker *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return link{broker, conn}, nil
}

// launch starts a process and shakes hands. On failure nothing of it is left.
func launch(ctx context.Context, spec Spec) (*life, *StartError) {
	fail := func(stage Stage, cause error, output []string) *StartError {
		return &StartError{Provider: spec.Name, Path: spec.Path, Stage: stage, Cause: cause, Output: output}
	}
	sockets, err := newSocketFolder()
	if err != nil {
		return nil, fail(StageLaunch, err, nil)
	}
	l := &life{
		process: newProcess(spec, sockets.path),
		sockets: sockets, callbacks: newCallbacks(spec), severed: make(chan struct{}),
	}
	identity, err := ourIdentity()
	if err != nil {
		sockets.remove()
		return nil, fail(StageLaunch, fmt.Errorf("cannot make a certificate for the connection: %w", err), nil)
	}
	config := l.clientConfig(spec, identity)
	l.client = goplugin.NewClient(config)
	begin := time.Now()
	stopped := context.AfterFunc(ctx, l.process.kill)
	_, err = l.client.Start()
	if err == nil {
		l.spawned, l.shook = l.process.startedAt().Sub(begin), time.Since(l.process.startedAt())
		begin = time.Now()
		err = l.connect(config)
		l.joined = time.Since(begin)
	}
	if !stopped() && err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		go l.watch()
		return l, nil
	}
	l.end(0)
	if l.process.startedAt().IsZero() {
		return nil, fail(StageLaunch, explainLaunch(spec.Path, err), nil)
	}
	return nil, fail(StageHandshake, explainHandshake(ctx, l.process, err, spec.StartTimeout), l.process.errors.lines())
}

func (l *life) clientConfig(spec Spec, identity identity) *goplugin.ClientConfig {
	return &goplugin.ClientConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: plugin.ProtocolVersion, MagicCookieKey: plugin.MagicCookieKey, MagicCookieValue: plugin.MagicCookieValue,
		},
		Plugins:          goplugin.PluginSet{plugin.Tool: bridge{}, plugin.SlashCommand: bridge{}},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, _ string) (runner.Runner, error) {
			// go-plugin's own variables come last, so that nothing that was given can replace them.
			l.process.env = append(append(l.process.env, cmd.Env...), mtls.Variable+"="+string(identity.pem))
			return l.process, nil
		},
		SkipHostEnv:      true,
		TLSConfig:        identity.config(),
		StartTimeout:     spec.StartTimeout,
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: l.sockets.path},
		SyncStdout:       l.process.lines("stdout", false),
		SyncStderr:       l.process.lines("stderr", true),
		Logger:           hclog.NewNullLogger(),
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithNoProxy(), // a proxy in the environment is not for a local socket
			grpc.WithStaticStreamWindowSize(plugin.StreamWindow), grpc.WithStaticConnWindowSize(plugin.ConnectionWindow),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageLimit), grpc.MaxCallSendMsgSize(messageLimit), grpc.ForceCodecV2(codec.Codec{})),
		},
	}
}

func (l *life) connect(config *goplugin.ClientConfig) error {
	protocol, err := l.client.Client()
	if err != nil {
		return err
	}
	raw, err := protocol.Dispense(plugin.Tool)
	if err != nil {
		return err
	}
	conn := raw.(link)
	l.conn = conn.conn
	go l.watchConnection()
	l.announcer = &announcer{accept: conn.broker.Accept, log: l.callbacks.log}
	l.announcer.server = grpc.NewServer(grpc.Creds(l.announcer.secure(credentials.NewTLS(config.TLSConfig))), grpc.MaxRecvMsgSize(messageLimit))
	kernelv1.RegisterKernelCallbackServiceServer(l.announcer.server, l.callbacks)
	return nil
}

// watch cleans up after a process that ended by itself.
func (l *life) watch() {
	<-l.process.exited
	l.end(0)
}

// watchConnection notices when the connection ends, and ends a process that lives on without it: it is of no use, and might
// meddle with the next one's work.
func (l *life) watchConnection() {
	l.awaitDisconnect()
	close(l.severed)
	if l.process.awaitEnd(crashPatience) || l.leaving.Load() {
		return
	}
	l.cut("closed its connection")
}

// awaitDisconnect returns when the connection has been there and is not any more. It is never idle, since the stream of the
// broker runs as long as it does.
func (l *life) awaitDisconnect() {
	for been := false; ; {
		state := l.conn.GetState()
		if state == connectivity.Shutdown || been && state != connectivity.Ready {
			return
		}
		been = been || state == connectivity.Ready
		l.conn.WaitForStateChange(context.Background(), state)
	}
}

// usable reports whether a call may be made of the process: it runs, is connected, and nobody ends it.
func (l *life) usable() bool {
	select {
	case <-l.process.ended:
		return false
	case <-l.severed:
		return false
	default:
		return !l.dismissed.Load()
	}
}

// dismiss ends the process at once, which is no crash when it was well until now.
func (l *life) dismiss() {
	l.dismissed.Store(l.usable() || l.dismissed.Load())
	l.process.kill()
}

// end asks the process to leave, kills it and its group when it has not within the grace time, and cleans up. It
// returns when all of that is done, whoever began it.
func (l *life) end(grace time.Duration) {
	l.ending.Do(func() {
		l.dismissed.Store(l.usable() || l.dismissed.Load())
		l.leaving.Store(true)
		l.process.spare(grace)
		// go-plugin asks the process over a connection, without a deadline.
		defer time.AfterFunc(grace, l.process.kill).Stop()
		l.client.Kill()
		l.process.flush()
		if l.announcer != nil {
			l.announcer.close()
		}
		l.sockets.remove()
	})
}
