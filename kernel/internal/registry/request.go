package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// maxAttempts is how often one request is made before its server is given up.
const maxAttempts = 4

// maxRetryDelay bounds the growing pause between attempts.
const maxRetryDelay = 10 * time.Second

// request is one thing to get from an origin.
type request struct {
	from      *origin
	url       string
	attempted string // for errors: "list the releases of …"
	accept    string
	header    http.Header
	// file is for a file that a release names, archive for one that may take as long as it takes while something arrives.
	file, archive bool
}

// answer is a response whose body is still to be read, and closed.
type answer struct {
	*http.Response
	shown string // the address asked, fit for messages
}

// Why a connection is cut.
var (
	errStalled = errors.New("nothing arrived any more")
	errSlow    = errors.New("it took too long")
)

// patience is how many times as long as it may bring nothing an answer that is no archive may take altogether: two
// minutes, unless StallTimeout is set.
const patience = 4

// send makes one attempt. Every answer but 2xx is an Error; its retry says whether it is worth another attempt.
func (c *Client) send(ctx context.Context, r request) (*answer, *Error) {
	a, e := c.exchange(ctx, r)
	if e != nil {
		return nil, e
	}
	if a.StatusCode/100 != 2 {
		defer a.Body.Close()
		return nil, r.refused(a.Response, a.shown)
	}
	return a, nil
}

// exchange makes one attempt and takes any answer.
func (c *Client) exchange(ctx context.Context, r request) (*answer, *Error) {
	u, err := url.Parse(r.url)
	if err != nil || !safe(u) {
		return nil, r.blamed(&Error{Code: InvalidAnswer, Attempted: r.attempted, On: r.from.name, Reason: "an address that is not https was given for it"})
	}
	shown := shownURL(u)
	if !r.from.maySend(u) {
		return nil, r.blamed(&Error{Code: InvalidAnswer, Attempted: r.attempted, On: shown, Reason: r.from.name + " gave an address of this machine for it"})
	}
	if !printable(r.from.token) {
		return nil, r.blamed(&Error{Code: AccessDenied, Attempted: r.attempted, On: r.from.name, Reason: "the value of " + r.from.tokenEnv + " is no token: it holds blanks or control codes"})
	}
	live, cancel := context.WithCancelCause(ctx)
	watch := time.AfterFunc(c.stall, func() { cancel(errStalled) })
	release := func() { watch.Stop(); cancel(nil) }
	if !r.archive {
		limit := time.AfterFunc(patience*c.stall, func() { cancel(errSlow) })
		release = func() { limit.Stop(); watch.Stop(); cancel(nil) }
	}
	req, err := http.NewRequestWithContext(live, http.MethodGet, r.url, nil)
	if err != nil {
		release()
		return nil, r.blamed(&Error{Code: InvalidAnswer, Attempted: r.attempted, On: r.from.name, Reason: "an address that cannot be asked was given for it"})
	}
	c.dress(req, r)
	client := http.Client{Transport: c.http, CheckRedirect: r.from.redirected}
	resp, err := client.Do(req)
	if err != nil {
		defer release()
		e := c.broken(ctx, live, r, shown, err)
		if errors.Is(e, errStalled) {
			e.retry = false // not even an answer: who keeps us waiting is not waited for again and again
		}
		return nil, e
	}
	resp.Body = &body{ReadCloser: resp.Body, live: live, watch: watch, stall: c.stall, release: release}
	return &answer{resp, shown}, nil
}

func (c *Client) dress(req *http.Request, r request) {
	for name, values := range r.header {
		req.Header[name] = values
	}
	req.Header.Set("User-Agent", c.agent)
	if r.accept != "" {
		req.Header.Set("Accept", r.accept)
	}
	r.from.authorise(req)
}

// broken is an attempt without an answer. The error of the transport holds the whole address, so only what is
// inside of it is told.
func (c *Client) broken(ctx, live context.Context, r request, shown string, err error) *Error {
	if e := cancelled(ctx, r.attempted, shown); e != nil {
		return e
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	e := &Error{Code: Unreachable, Attempted: r.attempted, On: shown, Reason: err.Error(), Err: err, retry: true}
	// The error of HTTP/2 for it has a type that net/http keeps to itself.
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || strings.HasPrefix(err.Error(), "stream error: ") {
		e.Reason = "the connection was cut"
	}
	switch {
	case errors.Is(err, errRedirect):
		e.Code, e.retry = InvalidAnswer, false
	case errors.Is(err, errStalled), errors.Is(context.Cause(live), errStalled):
		e.Reason, e.Err = fmt.Sprintf("next to nothing arrived for %s", c.stall), errStalled
	case errors.Is(err, errSlow), errors.Is(context.Cause(live), errSlow):
		e.retry = false
		e.Reason, e.Err = fmt.Sprintf("it took longer than %s", patience*c.stall), errSlow
	case untrusted(err):
		e.retry = false
		e.Advice = "The certificate is not one that this machine trusts. If the server is yours, add its authority to the system's or name the file in SSL_CERT_FILE"
	case timedOut(err):
		e.retry = false // it has been waited for long enough
		e.Advice = "Check the network, and HTTPS_PROXY if there is a proxy"
	case unknownHost(err):
		e.retry = false
		e.Advice = "Check the name of the host, and the network"
	default:
		e.Advice = "Check the network, and HTTPS_PROXY if there is a proxy"
	}
	return r.blamed(e)
}

// blamed makes the failure of a mirror say that it is one.
func (r request) blamed(e *Error) *Error {
	if r.from.mirror && e.Code != NotFound {
		e.Code = MirrorFailed
		e.Reason = fmt.Sprintf("the mirror %s failed: %s", r.from.name, e.Reason)
		e.Advice = joined(e.Advice, "The mirror is configured in registry_mirror of config.hcl; what it fails at is not fetched from elsewhere")
	}
	return e
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + ". " + b
}

// fetch reads a whole answer of at most limit bytes, trying again when that may help.
func (c *Client) fetch(ctx context.Context, r request, limit int64) ([]byte, http.Header, error) {
	if r.from.dir != "" {
		data, err := r.readFile(limit)
		return data, nil, err
	}
	var header http.Header
	data, err := retry(ctx, c, func() ([]byte, *Error) {
		a, e := c.send(ctx, r)
		if e != nil {
			return nil, e
		}
		defer a.Body.Close()
		header = a.Header
		data, err := io.ReadAll(io.LimitReader(a.Body, limit+1))
		switch {
		case err != nil:
			return nil, c.broken(ctx, ctx, r, a.shown, err)
		case int64(len(data)) > limit:
			return nil, r.blamed(&Error{Code: TooLarge, Attempted: r.attempted, On: a.shown, Reason: fmt.Sprintf("the answer is larger than %d bytes", limit)})
		}
		return data, nil
	})
	return data, header, err
}

// retry makes up to maxAttempts attempts, with growing pauses between them.
func retry[T any](ctx context.Context, c *Client, attempt func() (T, *Error)) (T, error) {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval, pause.Multiplier = c.delay, maxRetryDelay, 2
	var last *Error
	value, err := backoff.Retry(ctx, func() (T, error) {
		value, e := attempt()
		last = e
		switch {
		case e == nil:
			return value, nil
		case !e.retry:
			return value, backoff.Permanent(e)
		}
		return value, e
	}, backoff.WithBackOff(pause), backoff.WithMaxTries(maxAttempts), backoff.WithMaxElapsedTime(0))
	switch {
	case err == nil:
		return value, nil
	case last == nil:
		return value, err
	}
	if e := cancelled(ctx, last.Attempted, last.On); e != nil {
		return value, e
	}
	return value, last
}
