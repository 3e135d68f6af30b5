// Package registrytest is a small internet for tests: forges that speak the release APIs of GitHub, GitLab and
// Gitea as those do, the storage they redirect to, and mirrors. Any of it can be made slow, cut, limited or broken.
//
//	n := registrytest.New(t)
//	gh := n.GitHub("github.com")
//	gh.Publish("agentco/provider-x", registrytest.Built("provider-x", "1.2.3", binary, "linux_amd64"))
//	client := registry.New(registry.Options{Transport: n.Transport(), …})   // inside this process
//	cmd.Env = append(cmd.Env, n.Env()...)                                    // a real binary
//
// Every host of it is served over TLS, with certificates of an authority that the test makes up.
package registrytest

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Net is the internet of one test. A host that nothing was put on answers 502, as a proxy would.
type Net struct {
	tb        testing.TB
	server    *httptest.Server
	plain     *httptest.Server
	authority *authority

	mu     sync.Mutex
	hosts  map[string]http.Handler
	log    []Request
	faults []*fault
}

// Request is one that was made to any host.
type Request struct {
	Host, Path, Query string
	Header            http.Header
}

// Authorization is what the request showed of a secret; empty for none.
func (r Request) Authorization() string { return r.Header.Get("Authorization") }

// New starts the internet of a test, which ends with it.
func New(tb testing.TB) *Net {
	tb.Helper()
	a, err := newAuthority()
	require.NoError(tb, err)
	n := &Net{tb: tb, authority: a, hosts: map[string]http.Handler{}}
	n.server = httptest.NewUnstartedServer(http.HandlerFunc(n.serve))
	n.server.TLS = &tls.Config{GetCertificate: a.certificate}
	n.server.Config.ErrorLog = quiet()
	n.server.EnableHTTP2 = true // as all of the forges do
	n.server.StartTLS()
	n.plain = httptest.NewServer(http.HandlerFunc(n.serve))
	n.plain.Config.ErrorLog = quiet()
	tb.Cleanup(func() {
		n.server.CloseClientConnections()
		n.server.Close()
		n.plain.CloseClientConnections()
		n.plain.Close()
	})
	return n
}

// Handle puts a handler on a host.
func (n *Net) Handle(host string, h http.Handler) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hosts[host] = h
}

// loopback starts one more server, by plain http, whose hosts are found by the address it returns (HOST:PORT).
func (n *Net) loopback() string {
	server := httptest.NewServer(http.HandlerFunc(n.serve))
	n.tb.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return strings.TrimPrefix(server.URL, "http://")
}

// Requests are those made so far.
func (n *Net) Requests() []Request {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.log)
}

// To are the requests made to a host so far.
func (n *Net) To(host string) []Request {
	return slices.DeleteFunc(n.Requests(), func(r Request) bool { return r.Host != host })
}

// Forget empties the list of requests.
func (n *Net) Forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.log = nil
}

func (n *Net) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		n.connect(w)
		return
	}
	n.mu.Lock()
	h := n.hosts[r.Host]
	n.log = append(n.log, Request{r.Host, r.URL.EscapedPath(), r.URL.RawQuery, r.Header.Clone()})
	how := n.fault(r)
	n.mu.Unlock()
	switch {
	case h == nil:
		http.Error(w, "no such host", http.StatusBadGateway)
	case how != nil:
		how(w, r, h)
	default:
		h.ServeHTTP(w, r)
	}
}

// Transport reaches the hosts of the internet, and loopback addresses, from this process. It trusts the authority.
func (n *Net) Transport() *http.Transport {
	t := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: n.authority.pool()},
		DialContext:       n.dial,
		ForceAttemptHTTP2: true,
	}
	n.tb.Cleanup(t.CloseIdleConnections)
	return t
}

// Distrustful is a Transport that does not know the authority.
func (n *Net) Distrustful() *http.Transport {
	t := n.Transport()
	t.TLSClientConfig = &tls.Config{}
	return t
}

func (n *Net) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if host, _, err := net.SplitHostPort(address); err == nil && net.ParseIP(host) == nil && host != "localhost" {
		address = n.server.Listener.Addr().String()
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

// Env makes a real binary reach the hosts of the internet: a proxy for them, and the authority to trust.
func (n *Net) Env() []string {
	file := filepath.Join(n.tb.TempDir(), "authority.pem")
	require.NoError(n.tb, os.WriteFile(file, n.authority.pem(), 0o600))
	return []string{"HTTPS_PROXY=" + n.plain.URL, "https_proxy=" + n.plain.URL, "NO_PROXY=", "no_proxy=", "SSL_CERT_FILE=" + file}
}
