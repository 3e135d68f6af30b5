package registry

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// origin is a server or folder that files come from, and what may be shown to it alone.
type origin struct {
	// name is what people call it: github.com, or the address of a mirror.
	name string
	base *url.URL // of an API or mirror; nil for a folder
	dir  string   // a mirror's folder
	// token is sent to the host of base; tokenEnv is the variable it comes from, or would.
	token, tokenEnv string
	mirror          bool
}

// authorise shows the token to base's host, and to no other. A user in an address, which somebody else made up, is nobody's.
func (o *origin) authorise(r *http.Request) {
	r.Header.Del("Authorization")
	r.URL.User = nil
	if o.token != "" && o.owns(r.URL) {
		r.Header.Set("Authorization", "Bearer "+o.token)
	}
}

// owns reports whether u is on exactly the scheme, host and port of the origin.
func (o *origin) owns(u *url.URL) bool {
	return o.base != nil && u.Scheme == o.base.Scheme && strings.EqualFold(hostPort(u), hostPort(o.base))
}

// printable reports whether a token can be sent at all.
func printable(token string) bool {
	return !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

const maxRedirects = 10

var errRedirect = errors.New("redirect")

// redirected decides about the next hop. The transport has copied the headers of the first one.
func (o *origin) redirected(r *http.Request, via []*http.Request) error {
	switch {
	case len(via) >= maxRedirects:
		return &redirectError{"it redirects without end"}
	case !safe(r.URL):
		return &redirectError{"it redirects to " + shownURL(r.URL) + ", which is not encrypted"}
	case !o.maySend(r.URL):
		return &redirectError{"it redirects to " + shownURL(r.URL) + ", which is this machine"}
	case via[len(via)-1].URL.Scheme == "https" && r.URL.Scheme != "https":
		return &redirectError{"it redirects from https to " + r.URL.Scheme}
	}
	r.Header.Del("Referer")
	o.authorise(r)
	return nil
}

type redirectError struct{ reason string }

func (e *redirectError) Error() string        { return e.reason }
func (e *redirectError) Is(target error) bool { return target == errRedirect }

// safe reports whether what is sent to u stays between us and its host.
func safe(u *url.URL) bool {
	return u.Scheme == "https" && u.Host != "" || u.Scheme == "http" && loopback(u.Hostname())
}

// maySend reports whether the origin may send us to u. Servers of this machine are not for others to ask: they take
// whoever reaches them for somebody who works here.
func (o *origin) maySend(u *url.URL) bool {
	return !loopback(u.Hostname()) || o.base == nil || loopback(o.base.Hostname())
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// shownURL is u without what may be secret: the query of a signed address, a password.
func shownURL(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return shown.String()
}
