package conformance

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/agentco/agent/conformance/client"
	"github.com/agentco/agent/proto/plugin"
)

// announcing is a handshake done by hand.
type announcing struct {
	err          error // why there is no line at all
	silent       bool  // it ran for as long as a start may take, and printed none
	line         string
	announcement client.Announcement
	malformed    error // what is wrong with the line
	undialled    error // why its address cannot be dialled
	mutual       error // why mutual TLS fails
	plain, bare  bool  // served somebody without TLS, without a certificate
}

func (s *subject) byHand(how start) (*place, client.Options, error) {
	p, err := s.place()
	if err != nil {
		return nil, client.Options{}, err
	}
	o := s.at(p)
	o.WholeEnv = how.wholeEnv != nil
	return p, o, nil
}

func (s *subject) listen(how start) (out announcing) {
	p, o, err := s.byHand(how)
	if err != nil {
		return announcing{err: err}
	}
	identity, err := client.NewIdentity()
	if err != nil {
		return announcing{err: err}
	}
	process, err := o.Start(s.ctx, identity, client.Cookie())
	if err != nil {
		return announcing{err: err}
	}
	defer func() { _ = process.Kill(s.ctx) }()
	ctx, cancel := s.patient()
	defer cancel()
	if out.line, err = process.FirstLine(ctx); err != nil {
		out.silent = s.ctx.Err() == nil
		out.err = fmt.Errorf("nothing on stdout within %s, and it still runs; a start that takes longer needs --timeout%s", s.timeout(), p.words)
		return out
	}
	if out.line == "" {
		out.err = fmt.Errorf("it printed no line on stdout, and %s", s.fate(process, p))
		return out
	}
	out.announcement, out.malformed = client.ParseAnnouncement(out.line)
	if out.malformed == nil && !strings.HasSuffix(out.line, "\n") {
		out.malformed = errors.New("it has no newline at its end")
	}
	if out.malformed != nil {
		out.malformed = fmt.Errorf("%w; %s", out.malformed, s.fate(process, p))
		return out
	}
	conn, err := out.announcement.Dial()
	if out.undialled = err; err != nil {
		return out
	}
	out.plain = answersHTTP2(conn, refusalTime) == nil
	out.mutual, out.bare = tryTLS(out.announcement, identity, s.timeout())
	return out
}

// fate says what became of a process that announced nothing. One that is about to end has a moment.
func (s *subject) fate(process *client.Process, p *place) string {
	select {
	case <-process.Exited():
		return fmt.Sprintf("it ended (%s)%s", process.Ending(), p.words)
	case <-time.After(moment):
	case <-s.ctx.Done():
	}
	return fmt.Sprintf("it still runs%s", p.words)
}

// tryTLS connects with our certificate, and without.
func tryTLS(a client.Announcement, identity client.Identity, patience time.Duration) (mutual error, bare bool) {
	if a.Undecoded != nil {
		return a.Undecoded, false
	}
	if a.Certificate == nil {
		return errors.New("it announces no certificate"), false
	}
	theirs, err := x509.ParseCertificate(a.Certificate)
	if err != nil {
		return fmt.Errorf("its certificate cannot be read: %w", err), false
	}
	pool := x509.NewCertPool()
	pool.AddCert(theirs)
	for _, certificates := range [][]tls.Certificate{{identity.Certificate}, nil} {
		conn, err := a.Dial()
		if err != nil {
			return err, bare
		}
		if certificates == nil {
			patience = refusalTime
		}
		err = answersHTTP2(tls.Client(conn, &tls.Config{
			RootCAs: pool, Certificates: certificates, ServerName: "localhost", NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12,
		}), patience)
		switch {
		case certificates == nil:
			bare = err == nil
		case err != nil:
			mutual = fmt.Errorf("it does not answer over mutual TLS: %w", err)
		}
	}
	return mutual, bare
}

// refusalTime is how long somebody who must not be served waits for being served.
const refusalTime = 2 * time.Second

// answersHTTP2 greets a server as gRPC does, says why it does not greet back, and closes the connection.
func answersHTTP2(conn net.Conn, patience time.Duration) error {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	const preface, emptySettings = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	if _, err := io.WriteString(conn, preface+emptySettings); err != nil {
		return err
	}
	// A frame's header: its length, then its type. A server's first frame holds its settings.
	header := make([]byte, 9)
	if _, err := io.ReadFull(conn, header); err != nil {
		return err
	}
	if header[3] != 4 {
		return errors.New("what comes is no HTTP/2")
	}
	return nil
}

// uncookied is a start without the right cookie.
type uncookied struct {
	cookie  string // what was given instead
	err     error
	line    string // what stood first on stdout
	said    string // everything that was printed
	running bool   // it did not end by itself
	code    int
}

func (s *subject) startWithoutCookie() []uncookied {
	out := make([]uncookied, 2)
	var both sync.WaitGroup
	for i, cookie := range []string{"", plugin.MagicCookieKey + "=another"} {
		both.Go(func() { out[i] = s.startWith(cookie) })
	}
	both.Wait()
	return out
}

func (s *subject) startWith(cookie string) uncookied {
	out := uncookied{cookie: cookie}
	_, o, err := s.byHand(s.start())
	if err != nil {
		return uncookied{err: err}
	}
	said := &lockedText{}
	o.Stderr = said
	var env []string
	if cookie != "" {
		env = []string{cookie}
	}
	process, err := o.Start(s.ctx, client.Identity{}, env...)
	if err != nil {
		return uncookied{err: err}
	}
	ctx, cancel := s.patient()
	defer cancel()
	select {
	case <-process.Exited():
		out.code = process.ExitCode()
	case <-ctx.Done():
		out.running = true
		_ = process.Kill(s.ctx)
	}
	out.line, _ = process.FirstLine(s.ctx)
	out.said = strings.TrimSpace(out.line + process.Printed() + said.String())
	return out
}

// lockedText keeps the beginning of what is written to it.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write keeps b as far as there is room.
func (l *lockedText) Write(b []byte) (int, error) {
	const most = 64 << 10
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(b[:min(len(b), most-l.text.Len())])
	return len(b), nil
}

// String is everything so far.
func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
