package client

import (
	"net"
	"sync"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/agentco/agent/proto/plugin"
)

// announceEvery is how often the callback stream is announced until the provider connects. A provider may dial when it
// likes, but go-plugin forgets an announcement after five seconds.
const announceEvery = 2 * time.Second

// announcer keeps the callback stream within reach.
type announcer struct {
	broker *goplugin.GRPCBroker
	server *grpc.Server
	stop   chan struct{}
	done   sync.WaitGroup

	mu        sync.Mutex
	addresses []string
	connected sync.Once
	taken     chan struct{} // closed when the provider has connected
}

func announce(broker *goplugin.GRPCBroker, server *grpc.Server) *announcer {
	a := &announcer{broker: broker, server: server, stop: make(chan struct{}), taken: make(chan struct{})}
	a.done.Go(a.loop)
	return a
}

func (a *announcer) loop() {
	for {
		listener, err := a.broker.Accept(plugin.CallbackStreamID)
		if err != nil {
			return // the provider has no broker, so it cannot call back
		}
		a.mu.Lock()
		a.addresses = append(a.addresses, listener.Addr().String())
		a.mu.Unlock()
		a.done.Go(func() { _ = a.server.Serve(watched{listener, a}) })
		select {
		case <-time.After(announceEvery):
		case <-a.taken:
			return
		case <-a.stop:
			return
		}
	}
}

// owns reports whether a socket is one of ours.
func (a *announcer) owns(path string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, address := range a.addresses {
		if address == path {
			return true
		}
	}
	return false
}

func (a *announcer) close() {
	close(a.stop)
	a.server.Stop()
	a.done.Wait()
}

// watched is a listener that says when somebody comes.
type watched struct {
	net.Listener
	announcer *announcer
}

// Accept waits for the provider.
func (w watched) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	if err == nil {
		w.announcer.connected.Do(func() { close(w.announcer.taken) })
	}
	return conn, err
}
