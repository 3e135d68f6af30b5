package mcp

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guard keeps out who has no business here. A web page must not reach a server on the reader's own machine: neither from
// its own origin, nor by a name that it has pointed there (DNS rebinding).
type guard struct {
	options HTTPOptions
	at      net.Addr
}

func (g guard) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !g.hostAllowed(r.Host):
			refuse(w, http.StatusForbidden, "the Host header names another machine than this: use 127.0.0.1 or localhost")
		case !g.originAllowed(r):
			refuse(w, http.StatusForbidden, "web pages of this origin may not use the server: allow it with --allow-origin")
		case g.welcome(w, r):
			w.WriteHeader(http.StatusNoContent)
		case !g.tokenRight(r):
			w.Header().Set("WWW-Authenticate", `Bearer realm="agent"`)
			refuse(w, http.StatusUnauthorized, "send the token of the server as Authorization: Bearer TOKEN")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func refuse(w http.ResponseWriter, code int, text string) { http.Error(w, text, code) }

// hostAllowed holds a server on a loopback address to the names of that. On any other, the token keeps strangers out:
// which names a machine has, it cannot know itself.
func (g guard) hostAllowed(host string) bool {
	if at, _, err := net.SplitHostPort(g.at.String()); err == nil && !loopback(at) {
		return true
	}
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	return loopback(name)
}

// originAllowed lets pass what is no web page, and pages of the server's own address.
func (g guard) originAllowed(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	if len(origins) > 1 {
		return false
	}
	if g.listed(origins[0]) {
		return true
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	u, err := url.Parse(origins[0])
	return err == nil && u.Scheme == scheme && u.User == nil && strings.EqualFold(u.Host, r.Host)
}

func (g guard) listed(origin string) bool {
	return slices.ContainsFunc(g.options.Origins, func(o string) bool { return strings.EqualFold(strings.TrimSuffix(o, "/"), origin) })
}

// welcome tells the browser of a page of another origin that is allowed what the page may do, without which it could do
// nothing. It reports whether that was all that was asked for: the browser asks beforehand, and without the token.
func (g guard) welcome(w http.ResponseWriter, r *http.Request) (asked bool) {
	origin := r.Header.Get("Origin")
	if !g.listed(origin) {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", headerSession+", WWW-Authenticate")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID, "+headerSession+", "+headerVersion)
	h.Set("Access-Control-Max-Age", "600")
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	return true
}

// tokenRight compares digests, so that neither the length nor the first wrong character can be told from the time.
func (g guard) tokenRight(r *http.Request) bool {
	if g.options.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(g.options.Token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// loopback reports whether a host is this machine, and nothing else.
func loopback(host string) bool {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}
