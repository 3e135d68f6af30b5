package mtls_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/agentco/agent/proto/plugin/mtls"
)

// one side of a connection.
type side struct {
	own     tls.Certificate
	trusted *x509.CertPool
}

func newSide(t *testing.T) side {
	t.Helper()
	own, err := mtls.NewCertificate()
	if err != nil {
		t.Fatal(err)
	}
	return side{own, x509.NewCertPool()}
}

func (s side) trust(t *testing.T, other side) {
	t.Helper()
	certificate, err := x509.ParseCertificate(other.own.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	s.trusted.AddCert(certificate)
}

func (s side) config() *tls.Config { return mtls.Config(s.own, s.trusted) }

// meet has client connect to server, and returns how that ended for each.
func meet(t *testing.T, client, server side) (clients, servers error) {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	for _, end := range []net.Conn{near, far} {
		if err := end.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() {
		err := tls.Server(far, server.config()).Handshake()
		_ = far.Close()
		done <- err
	}()
	_, clients = tls.Client(near, client.config()).Read(make([]byte, 1))
	return clients, <-done
}

// Either side may be the server: a provider of calls, a kernel of callbacks.
func TestOnlyTheTwoMeet(t *testing.T) {
	kernel, provider, stranger := newSide(t), newSide(t), newSide(t)
	kernel.trust(t, provider)
	provider.trust(t, kernel)
	stranger.trust(t, provider)
	for _, pair := range [][2]side{{kernel, provider}, {provider, kernel}} {
		if _, err := meet(t, pair[0], pair[1]); err != nil {
			t.Error(err)
		}
	}
	if _, err := meet(t, stranger, provider); err == nil {
		t.Error("somebody else than its kernel gets through to a provider")
	}
	clients, _ := meet(t, kernel, stranger)
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](clients); !unknown {
		t.Errorf("a kernel speaks to another provider: %v", clients)
	}
}
