package host

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/agentco/agent/proto/plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// announceEvery is how often the callback stream is announced while a call runs and the provider has not connected.
//
// go-plugin keeps an announcement on the provider's side for five seconds, ignores others meanwhile, and then forgets
// it together with whatever has been stored since; a provider that dials waits five seconds for the next one. At two
// seconds apart each wait is met, and no announcement falls on the forgetting of an earlier one.
const announceEvery = 2 * time.Second

// announceLife is how long a listener waits for its connection: the provider forgets an announcement after five
// seconds, and has at most a few more to act on one it took up at the last moment.
const announceLife = 20 * time.Second

// announcer keeps the kernel's callback stream within reach of a provider that dials whenever it likes.
type announcer struct {
	accept func(stream uint32) (net.Listener, error) // the broker's
	server *grpc.Server
	log    *slog.Logger

	mu          sync.Mutex
	last        time.Time
	open        []announcement // oldest first
	calls       int
	connections int
	unreachable bool // the provider has no broker, so it cannot call back
	refused     bool // its last attempt was one that could not be trusted
	warned      bool
	closed      bool
	wake        chan struct{} // stops the loop early; nil when none runs
	serving     sync.WaitGroup
}

type announcement struct {
	at       time.Time
	listener net.Listener
}

// begin makes the stream reachable for the time of one call; end ends it.
func (a *announcer) begin() (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls++
	if a.wake == nil && a.wanted() {
		wake := make(chan struct{})
		a.wake = wake
		a.serving.Go(func() { a.loop(wake) })
	}
	return a.end
}

func (a *announcer) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls--
	a.settle()
}

func (a *announcer) wanted() bool {
	return a.calls > 0 && a.connections == 0 && !a.unreachable && !a.closed
}

// settle ends the loop when there is nothing left to announce.
func (a *announcer) settle() {
	if a.wake != nil && !a.wanted() {
		close(a.wake)
		a.wake = nil
	}
}

func (a *announcer) loop(wake <-chan struct{}) {
	for {
		a.mu.Lock()
		pause := time.Until(a.last.Add(announceEvery))
		a.mu.Unlock()
		if pause <= 0 {
			a.announce()
			pause = announceEvery
		}
		select {
		case <-wake:
			return
		case <-time.After(pause):
		}
	}
}

// announce opens a listener and tells the provider of it.
func (a *announcer) announce() {
	a.mu.Lock()
	a.last = time.Now()
	a.mu.Unlock()
	listener, err := a.accept(plugin.CallbackStreamID)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.unreachable = true
		a.settle()
		return
	}
	if a.closed {
		_ = listener.Close()
		return
	}
	for len(a.open) > 0 && a.last.Sub(a.open[0].at) > announceLife {
		_ = a.open[0].listener.Close()
		a.open = a.open[1:]
	}
	a.open = append(a.open, announcement{at: a.last, listener: listener})
	a.serving.Go(func() { _ = a.server.Serve(counted{listener, a}) })
}

// reachable reports whether a report of the provider can be expected at all.
func (a *announcer) reachable() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.unreachable && !a.refused && !a.closed
}

// secure is the way to tell the provider from anybody else, and notes when it cannot be told.
func (a *announcer) secure(c credentials.TransportCredentials) credentials.TransportCredentials {
	return handshakes{c, a.shook}
}

// shook takes note of how a handshake ended. Without one nothing that the provider reports can arrive, and every
// cancellation would wait for it in vain.
func (a *announcer) shook(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || left(err) {
		return // which says nothing
	}
	a.refused = err != nil
	if a.refused && !a.warned {
		a.warned = true
		a.log.Warn("the provider's connection for callbacks was refused, so that it cannot report what became of cancelled calls; "+
			"its author has to use the certificates of the handshake for it, as for its own server", "cause", err.Error())
	}
}

// left reports whether a handshake failed because the other side, or this one, has gone: the system says so, and TLS does not.
func left(err error) bool {
	_, system := errors.AsType[syscall.Errno](err) // such as EPIPE and ECONNRESET, as it goes by when a process ends
	return system || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// handshakes is credentials that tell how each handshake ended.
type handshakes struct {
	credentials.TransportCredentials
	ended func(error)
}

// ServerHandshake is that of the credentials.
func (h handshakes) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secured, info, err := h.TransportCredentials.ServerHandshake(conn)
	h.ended(err)
	return secured, info, err
}

// Clone returns credentials that tell of their handshakes too.
func (h handshakes) Clone() credentials.TransportCredentials {
	return handshakes{h.TransportCredentials.Clone(), h.ended}
}

func (a *announcer) close() {
	a.mu.Lock()
	a.closed = true
	a.settle()
	a.mu.Unlock()
	a.server.Stop()
	a.serving.Wait()
}

func (a *announcer) count(by int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.connections += by
	a.settle()
}

// counted is a listener that tells the announcer who is connected.
type counted struct {
	net.Listener
	announcer *announcer
}

// Accept counts the connection until it is closed.
func (c counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c.announcer.count(1)
	return &countedConn{Conn: conn, left: sync.OnceFunc(func() { c.announcer.count(-1) })}, nil
}

type countedConn struct {
	net.Conn
	left func()
}

// Close closes the connection.
func (c *countedConn) Close() error {
	c.left()
	return c.Conn.Close()
}
