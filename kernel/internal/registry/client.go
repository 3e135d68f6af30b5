package registry

import (
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/agentco/agent/kernel/internal/config"
)

// Options are what a Client is made of. The zero value is a client without mirrors.
type Options struct {
	// Mirror and Forges are those of config.hcl.
	Mirror config.Mirror
	Forges []config.Forge
	// UserAgent names this program to servers; empty for "agent".
	UserAgent string
	// LookupEnv finds tokens; nil for os.LookupEnv.
	LookupEnv func(string) (string, bool)
	// Transport carries the requests; nil for one that verifies TLS and knows the proxies of the environment.
	Transport http.RoundTripper
	// RetryDelay is the pause before the first retry, growing from there; 0 for half a second.
	RetryDelay time.Duration
	// StallTimeout is how long a connection may bring nothing at all; 0 for 30 seconds.
	StallTimeout time.Duration
}

// Client asks forges and mirrors. It remembers what it was told, so one Client serves one command. Its methods
// may be called from several goroutines.
type Client struct {
	http     http.RoundTripper
	env      func(string) (string, bool)
	mirror   config.Mirror
	forges   []config.Forge
	agent    string
	delay    time.Duration
	stall    time.Duration
	listings memo[listing]
	dialects memo[dialect]
	files    memo[[]byte] // checksums files, which providers that are released together share
}

// New makes a Client. Nothing is asked before its methods are called.
func New(o Options) *Client {
	c := &Client{
		http: o.Transport, env: o.LookupEnv, mirror: o.Mirror, forges: o.Forges,
		agent: o.UserAgent, delay: o.RetryDelay, stall: o.StallTimeout,
	}
	if c.http == nil {
		c.http = newTransport()
	}
	if c.env == nil {
		c.env = os.LookupEnv
	}
	if c.agent == "" {
		c.agent = "agent"
	}
	if c.delay == 0 {
		c.delay = 500 * time.Millisecond
	}
	if c.stall == 0 {
		c.stall = 30 * time.Second
	}
	return c
}

// Close drops the connections that were kept for the next request.
func (c *Client) Close() {
	if t, ok := c.http.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:    15 * time.Second,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

// token is the value of an environment variable, empty when it is not set.
func (c *Client) token(name string) string {
	if name == "" {
		return ""
	}
	value, _ := c.env(name)
	return strings.TrimSpace(value)
}
