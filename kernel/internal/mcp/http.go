package mcp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// HTTPOptions is what serving over HTTP needs. All of it may be left out.
type HTTPOptions struct {
	// Token is what clients have to bring as a bearer. Empty: nobody is asked for one, which only a loopback address allows.
	Token string
	// Origins are those of web pages that may use the server, such as "https://example.com", besides its own.
	Origins []string
	// TLS has the certificate. Nil: plain HTTP.
	TLS *tls.Config
	// MostSessions is how many clients may be there at a time. Default: 64.
	MostSessions int
	// LongestMessage is how many bytes a client may send at a time. Default: 32 MiB.
	LongestMessage int64
	// WritePatience is how long a client may take to read what it is sent. Default: thirty seconds.
	WritePatience time.Duration
	// Idle is how long a session lasts without a word of its client. Default: an hour.
	Idle time.Duration
}

const (
	defaultMostSessions  = 64
	defaultWritePatience = 30 * time.Second
	defaultIdle          = time.Hour
	// bodyPatience is how long a client may take to send a message, headerPatience for its head.
	bodyPatience   = time.Minute
	headerPatience = 10 * time.Second
	// resumable is how many bytes of what was sent are kept, of all clients together, for those that lose the connection.
	resumable = 16 << 20
	// endpoint is where the protocol is spoken.
	endpoint = "/mcp"
)

// Check finds what is wrong with serving at an address: one that others than this machine can reach needs a token.
func (o HTTPOptions) Check(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("cannot serve at %q: write HOST:PORT, such as 127.0.0.1:8321: %w", address, err)
	}
	if !loopback(host) && o.Token == "" {
		return fmt.Errorf("cannot serve at %q without a token, as others than this machine can reach it: name the variable that holds one with --token-env, or serve at 127.0.0.1", address)
	}
	return nil
}

// ServeHTTP serves clients over streamable HTTP until ctx is done; then it ends their sessions. The listener is closed.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, o HTTPOptions) error {
	if o.TLS != nil {
		l = tls.NewListener(l, o.TLS)
	}
	server := &http.Server{
		Handler: s.handler(o, l.Addr()), ReadHeaderTimeout: headerPatience, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slogLines(s.options.Log), BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		s.Close()
		return err
	case <-ctx.Done():
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	s.cancel()
	select { // what was cancelled is still answered
	case <-s.posts.none():
	case <-limited.Done():
	}
	s.Close() // streams that are open would keep the server waiting
	if err := server.Shutdown(limited); err != nil {
		_ = server.Close()
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func slogLines(l *slog.Logger) *log.Logger { return slog.NewLogLogger(l.Handler(), slog.LevelDebug) }

// handler is what stands behind the listener: guards first, then the protocol.
func (s *Server) handler(o HTTPOptions, at net.Addr) http.Handler {
	if o.MostSessions == 0 {
		o.MostSessions = defaultMostSessions
	}
	if o.LongestMessage == 0 {
		o.LongestMessage = longestMessage
	}
	if o.WritePatience == 0 {
		o.WritePatience = defaultWritePatience
	}
	if o.Idle == 0 {
		o.Idle = defaultIdle
	}
	kept := events{sdk.NewMemoryEventStore(nil)}
	kept.SetMaxBytes(resumable)
	protocol := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
		EventStore: kept, SessionTimeout: o.Idle, MaxRequestBodyBytes: o.LongestMessage,
		DisableLocalhostProtection: true, // the guard is stricter
	})
	mux := http.NewServeMux()
	mux.Handle(endpoint, s.admission(o, protocol))
	return guard{options: o, at: at}.before(mux)
}
