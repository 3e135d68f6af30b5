package registrytest

import (
	"net/http"
	"strings"
	"time"
)

// Fault is what happens to a request instead of its answer, or to the answer.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

type fault struct {
	host, path string
	times      int
	how        Fault
}

// Break lets the next times requests to host whose path contains part meet a fault; times below zero: all of them.
func (n *Net) Break(host, part string, times int, how Fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults = append(n.faults, &fault{host, part, times, how})
}

// Repair ends all faults.
func (n *Net) Repair() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults = nil
}

func (n *Net) fault(r *http.Request) Fault {
	for _, f := range n.faults {
		if f.times != 0 && f.host == r.Host && strings.Contains(r.URL.EscapedPath(), f.path) {
			f.times--
			return f.how
		}
	}
	return nil
}

// Status answers with a code and a body that must never be taken for a file.
func Status(code int) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(code)
		_, _ = w.Write([]byte("<Error><Code>NotTheFile</Code></Error>"))
	}
}

// Cut ends the connection after so many bytes of the body.
func Cut(after int) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(&cutter{ResponseWriter: w, left: after}, r)
	}
}

type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	if len(p) <= c.left {
		c.left -= len(p)
		return c.ResponseWriter.Write(p)
	}
	_, _ = c.ResponseWriter.Write(p[:c.left])
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}

// Refuse ends the connection without an answer.
func Refuse(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// Hang never answers; it ends when the client goes away.
func Hang(_ http.ResponseWriter, r *http.Request, _ http.Handler) { <-r.Context().Done() }

// Stall sends so many bytes of the body and then nothing more, until the client goes away.
func Stall(after int) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(&staller{ResponseWriter: w, r: r, left: after}, r)
	}
}

type staller struct {
	http.ResponseWriter
	r    *http.Request
	left int
}

func (s *staller) Write(p []byte) (int, error) {
	n := min(len(p), s.left)
	s.left -= n
	if n > 0 {
		_, _ = s.ResponseWriter.Write(p[:n])
	}
	if n == len(p) {
		return n, nil
	}
	_ = http.NewResponseController(s.ResponseWriter).Flush()
	<-s.r.Context().Done()
	panic(http.ErrAbortHandler)
}

// Headers answers with a code, headers and a JSON body, as rate limits do.
func Headers(code int, body string, pairs ...string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		for i := 0; i+1 < len(pairs); i += 2 {
			w.Header().Set(pairs[i], pairs[i+1])
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

// Redirect sends the client somewhere else.
func Redirect(to string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		http.Redirect(w, r, to, http.StatusFound)
	}
}

// WithoutRange lets a storage ignore that only a part is asked for.
func WithoutRange(w http.ResponseWriter, r *http.Request, next http.Handler) {
	r.Header.Del("Range")
	next.ServeHTTP(w, r)
}

// Slowly lets pause go by before the answer.
func Slowly(pause time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		select {
		case <-time.After(pause):
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}
}
