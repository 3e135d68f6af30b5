package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The headers of the transport.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "MCP-Protocol-Version"
)

// methodInitialise is the request that a session begins with.
const methodInitialise = "initialize" //nolint:misspell // the protocol's spelling

// admission decides who gets a session, and ends those that are over. The SDK would begin one for any message.
func (s *Server) admission(o HTTPOptions, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session := r.Header.Get(headerSession)
		switch {
		case r.Method == http.MethodDelete && session != "":
			s.dismiss(session)
		case r.Method == http.MethodPost:
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyPatience))
			body, ok := receive(w, r, o.LongestMessage)
			if !ok {
				return
			}
			// A deadline that stays would end the stream of the answer.
			_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
			if !alone(body) {
				refuse(w, http.StatusBadRequest, "there is something behind the message")
				return
			}
			if !exactID(body) {
				refuse(w, http.StatusBadRequest, inexactID)
				return
			}
			if session == "" && !s.begins(w, r, body, o.MostSessions) {
				return
			}
		}
		if r.Method == http.MethodPost {
			defer s.posts.begin()()
		}
		serve := func(w http.ResponseWriter) { next.ServeHTTP(&prompter{w, o.WritePatience}, r) }
		if r.Method == http.MethodGet && r.Header.Get(headerLastEvent) != "" {
			resume(w, r, serve)
			return
		}
		serve(w)
	})
}

// posts counts the requests that wait for an answer.
type posts struct {
	mu      sync.Mutex
	running int
	idle    []chan<- struct{}
}

// begin notes one; end has to be called after its answer.
func (p *posts) begin() (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.running--; p.running > 0 {
			return
		}
		for _, idle := range p.idle {
			close(idle)
		}
		p.idle = nil
	}
}

// none is closed as soon as there is none.
func (p *posts) none() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := make(chan struct{})
	if p.running == 0 {
		close(idle)
	} else {
		p.idle = append(p.idle, idle)
	}
	return idle
}

// prompter ends the connection of a client that does not read: what is sent to it would keep its calls, and their places,
// for ever. A stream may be silent for as long as it likes.
type prompter struct {
	http.ResponseWriter
	patience time.Duration
}

func (p *prompter) Write(data []byte) (int, error) {
	if bytes.HasSuffix(data, unansweredEvent) {
		return len(data), nil
	}
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(p.patience))
	return p.ResponseWriter.Write(data)
}

// Flush is for those who ask for it by name.
func (p *prompter) Flush() { _ = http.NewResponseController(p.ResponseWriter).Flush() }

// Unwrap is for http.ResponseController.
func (p *prompter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// receive reads the message of a request, and gives it back to it.
func receive(w http.ResponseWriter, r *http.Request, most int64) (body []byte, ok bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		refuse(w, http.StatusRequestEntityTooLarge, "the message is too large")
		return nil, false
	case err != nil:
		refuse(w, http.StatusBadRequest, "the message did not come whole")
		return nil, false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, true
}

// begins reports whether a message without a session may go on: it has to begin one, and there has to be room.
func (s *Server) begins(w http.ResponseWriter, r *http.Request, body []byte, most int) bool {
	if r.Header.Get(headerVersion) >= multiRound {
		return true // it asks for a version without sessions; the SDK says which there are here
	}
	if !initialises(body) {
		refuse(w, http.StatusBadRequest, "a message without "+headerSession+" has to begin one: "+methodInitialise)
		return false
	}
	count := 0
	for range s.sdk.Sessions() {
		count++
	}
	if count >= most {
		w.Header().Set("Retry-After", "60")
		refuse(w, http.StatusServiceUnavailable, "there are as many sessions as there may be: end one, or try later")
		return false
	}
	return true
}

// initialises reports whether a message asks for a new session. What is no message at all, the SDK tells better.
func initialises(body []byte) bool {
	var m struct {
		Method string `json:"method"`
		Params struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &m) != nil {
		return !json.Valid(body)
	}
	_, sessionless := m.Params.Meta[sdk.MetaKeyProtocolVersion]
	return m.Method == methodInitialise || sessionless
}

// dismiss cancels what a session has running, so that its end does not wait for it.
func (s *Server) dismiss(id string) {
	for ss := range s.sdk.Sessions() {
		if ss.ID() == id {
			s.leave(ss, errGone)
		}
	}
}
