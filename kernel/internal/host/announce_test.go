package host

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

func testAnnouncer(t *testing.T) (*announcer, <-chan net.Listener) {
	t.Helper()
	announced := make(chan net.Listener, 100)
	dir, number := t.TempDir(), atomic.Int32{}
	return &announcer{server: grpc.NewServer(), accept: func(uint32) (net.Listener, error) {
		listener, err := net.Listen("unix", filepath.Join(dir, strconv.Itoa(int(number.Add(1)))))
		if err == nil {
			announced <- listener
		}
		return listener, err
	}}, announced
}

func TestAnnouncerOfShortCalls(t *testing.T) {
	a, _ := testAnnouncer(t)
	var calls sync.WaitGroup
	for range 1000 {
		calls.Go(func() { a.begin()() })
	}
	calls.Wait()
	a.close()
	require.Nil(t, a.wake)
}

func TestAnnouncerFallsSilentOnceConnected(t *testing.T) {
	a, announced := testAnnouncer(t)
	end := a.begin()
	listener := <-announced
	conn, err := net.Dial("unix", listener.Addr().String())
	require.NoError(t, err)
	connected := func() int {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.connections
	}
	require.Eventually(t, func() bool { return connected() == 1 }, time.Minute, time.Millisecond)
	require.True(t, a.reachable())
	require.NoError(t, conn.Close())
	require.Eventually(t, func() bool { return connected() == 0 }, time.Minute, time.Millisecond)
	end()
	a.close()
	require.False(t, a.reachable())
	_, err = net.Dial("unix", listener.Addr().String())
	require.Error(t, err, "nothing listens any more")
}

func TestAnnouncerDropsOldListeners(t *testing.T) {
	a, announced := testAnnouncer(t)
	a.announce()
	first := <-announced
	a.open[0].at = a.open[0].at.Add(-announceLife)
	a.announce()
	require.Len(t, a.open, 1)
	_, err := net.Dial("unix", first.Addr().String())
	require.Error(t, err)
	a.close()
}

func TestAnnouncerWithoutBroker(t *testing.T) {
	a := &announcer{server: grpc.NewServer(), accept: func(uint32) (net.Listener, error) { return nil, errors.New("broker closed") }}
	end := a.begin()
	require.Eventually(t, func() bool { return !a.reachable() }, time.Minute, time.Millisecond)
	end()
	a.close()
}

// A provider that cannot be told from anybody else is not waited for, and that is said once.
func TestAnnouncerRefusesWhoShowsNoCertificate(t *testing.T) {
	var log testLog
	a, announced := testAnnouncer(t)
	identity, err := ourIdentity()
	require.NoError(t, err)
	ours, err := x509.ParseCertificate(identity.cert.Certificate[0])
	require.NoError(t, err)
	config := identity.config()
	config.RootCAs.AddCert(ours)
	config.ClientCAs.AddCert(ours)
	a.log = log.logger()
	shaken := make(chan struct{}, 8)
	secure := handshakes{credentials.NewTLS(config), func(err error) {
		a.shook(err)
		shaken <- struct{}{}
	}}
	a.server = grpc.NewServer(grpc.Creds(secure))
	end := a.begin()
	listener := <-announced
	dial := func() net.Conn {
		conn, err := net.Dial("unix", listener.Addr().String())
		require.NoError(t, err)
		return conn
	}
	require.NoError(t, dial().Close())
	<-shaken
	require.True(t, a.reachable(), "one that leaves has not been refused")
	for range 2 {
		conn := dial()
		_, err = conn.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
		require.NoError(t, err)
		_, _ = io.ReadAll(conn)
		require.NoError(t, conn.Close())
		<-shaken
		require.False(t, a.reachable())
	}
	require.Equal(t, 1, strings.Count(log.String(), "level=WARN"), log.String())
	require.Contains(t, log.String(), "cannot report what became of cancelled calls")
	config = config.Clone()
	config.NextProtos = []string{"h2"}
	conn := tls.Client(dial(), config)
	require.NoError(t, conn.Handshake())
	<-shaken
	require.True(t, a.reachable(), "it has shown one now")
	require.NoError(t, conn.Close())
	end()
	a.close()
}

// hasty is a connection that is closed as soon as anything was written to it, as that of a process which ends.
type hasty struct{ net.Conn }

func (c hasty) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, errors.Join(err, c.Close())
}

// A provider that ends in the middle of the handshake has not been refused, whichever end notices first, and however.
func TestAnnouncerOfProvidersThatEndMeanwhile(t *testing.T) {
	var log testLog
	a, announced := testAnnouncer(t)
	a.log = log.logger()
	identity, err := ourIdentity()
	require.NoError(t, err)
	ours, err := x509.ParseCertificate(identity.cert.Certificate[0])
	require.NoError(t, err)
	config := identity.config()
	config.RootCAs.AddCert(ours)
	config.ClientCAs.AddCert(ours)
	causes := make(chan error, 1)
	a.server = grpc.NewServer(grpc.Creds(handshakes{credentials.NewTLS(config), func(err error) {
		a.shook(err)
		causes <- err
	}}))
	end := a.begin()
	listener := <-announced
	for range 200 {
		conn, err := net.Dial("unix", listener.Addr().String())
		require.NoError(t, err)
		require.Error(t, tls.Client(hasty{conn}, config).HandshakeContext(t.Context()))
		require.Error(t, <-causes)
		require.True(t, a.reachable(), "one that leaves has not been refused")
	}
	end()
	a.close()
	require.Empty(t, log.String())
}

func TestLeft(t *testing.T) {
	for _, cause := range []error{
		&net.OpError{Op: "write", Net: "unix", Err: os.NewSyscallError("write", syscall.EPIPE)},
		&net.OpError{Op: "read", Net: "unix", Err: os.NewSyscallError("read", syscall.ECONNRESET)},
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
	} {
		require.True(t, left(cause), "%v", cause)
	}
	for _, cause := range []error{
		nil, tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, x509.UnknownAuthorityError{},
		&net.OpError{Op: "remote error", Err: tls.AlertError(42)},
	} {
		require.False(t, left(cause), "%v", cause)
	}
}
