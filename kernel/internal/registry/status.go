package registry

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// refused says what an answer that is not 2xx means.
func (r request) refused(resp *http.Response, shown string) *Error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 16<<10))
	who := r.answering(resp)
	e := &Error{Attempted: r.attempted, On: shown, Reason: fmt.Sprintf("%s answered %s", who, status(resp))}
	switch code := resp.StatusCode; {
	case limited(resp, text):
		r.rateLimited(e, resp)
	case code == http.StatusNotFound || code == http.StatusGone:
		e.Code, e.Advice = NotFound, r.absentAdvice()
		if r.from.mirror {
			e.Reason = "the mirror " + r.from.name + " does not have it"
		}
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		e.Code, e.Advice = AccessDenied, r.tokenAdvice("It needs a token", "The token is not accepted: it may have expired or lack access")
		if who != r.from.name {
			e.Advice = "The forge sent us there with what should have been enough; try again"
		}
	case code == http.StatusNotImplemented:
		e.Code = ServerFailed
	case code >= 500 || code == http.StatusRequestTimeout:
		e.Code, e.retry = ServerFailed, true
		e.Reason += " again and again"
		e.Advice = "Try again later"
	default:
		e.Code = InvalidAnswer
	}
	return r.blamed(e)
}

func (r request) absentAdvice() string {
	switch {
	case r.file:
		return "The release names the file, and it is not there. Try again; if it stays so, the provider's authors have to release it again"
	case r.from.mirror:
		return ""
	}
	return r.tokenAdvice("Check the name. A private repository needs a token", "Check the name; the token may not have access to it")
}

// answering is who answered: the origin, or a host that it redirects to.
func (r request) answering(resp *http.Response) string {
	if asked, err := url.Parse(r.url); err == nil && resp.Request.URL.Host != asked.Host {
		return resp.Request.URL.Host + " (where it redirects to)"
	}
	return r.from.name
}

// status is a code with its usual text: what a server writes instead is not ours to show.
func status(resp *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
}

// tokenAdvice names the variable, never its value.
func (r request) tokenAdvice(without, with string) string {
	switch {
	case r.from.tokenEnv == "" && r.from.mirror:
		return without + ": name its variable in the mirror's block of config.hcl, auth = env(\"NAME\")"
	case r.from.tokenEnv == "":
		return without + fmt.Sprintf(": name its variable in config.hcl, forge %q { type = …, auth = env(\"NAME\") }", r.from.name)
	case r.from.token == "":
		return without + ": set " + r.from.tokenEnv
	}
	return with + " (" + r.from.tokenEnv + ")"
}

// limited reports a rate limit, GitHub's primary and secondary ones and GitLab's.
func limited(resp *http.Response, text []byte) bool {
	if resp.StatusCode == http.StatusTooManyRequests {
		return true
	}
	return resp.StatusCode == http.StatusForbidden &&
		(first(resp.Header, "X-RateLimit-Remaining", "RateLimit-Remaining") == "0" ||
			resp.Header.Get("Retry-After") != "" ||
			strings.Contains(strings.ToLower(string(text)), "rate limit"))
}

func (r request) rateLimited(e *Error, resp *http.Response) {
	now := time.Now()
	e.Code, e.RetryAt = RateLimited, retryAt(resp.Header, now)
	e.Reason = r.answering(resp) + " has had too many requests from here"
	if !e.RetryAt.IsZero() {
		wait := max(e.RetryAt.Sub(now), 0).Round(time.Second)
		e.Reason += fmt.Sprintf("; its limit is over at %s, in %s", e.RetryAt.Local().Format("15:04:05"), wait)
	}
	switch {
	case r.from.tokenEnv == "":
		e.Advice = "Wait until then"
	case r.from.token == "":
		e.Advice = "Set " + r.from.tokenEnv + " to a token, which has a far higher limit, or wait"
	default:
		e.Advice = "Wait until then: the requests counted are those of the token in " + r.from.tokenEnv
	}
}

// retryAt is when to come back: what Retry-After says, else when the counted period ends.
func retryAt(h http.Header, now time.Time) time.Time {
	if after := h.Get("Retry-After"); after != "" {
		if seconds, err := strconv.ParseUint(after, 10, 31); err == nil {
			return now.Add(time.Duration(seconds) * time.Second)
		}
		if at, err := http.ParseTime(after); err == nil {
			return at
		}
	}
	if seconds, err := strconv.ParseInt(first(h, "X-RateLimit-Reset", "RateLimit-Reset"), 10, 64); err == nil && seconds > 0 && seconds < 1<<33 {
		return time.Unix(seconds, 0)
	}
	return time.Time{}
}

func first(h http.Header, names ...string) string {
	for _, name := range names {
		if v := h.Get(name); v != "" {
			return v
		}
	}
	return ""
}

// timedOut reports that no connection came to be.
func timedOut(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

// unknownHost reports that there is no host of that name.
func unknownHost(err error) bool {
	e, ok := errors.AsType[*net.DNSError](err)
	return ok && e.IsNotFound
}

// untrusted reports that a server is not who it should be, which no retry changes.
func untrusted(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return true
	}
	_, ok := errors.AsType[x509.UnknownAuthorityError](err)
	return ok
}
