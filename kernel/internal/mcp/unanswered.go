package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// codeCancelled is that of a request which its client has cancelled, as the Language Server Protocol has it.
const codeCancelled = -32800

// errUnanswered is the answer to a request that its client has cancelled over HTTP: the SDK has to be given one, and
// nobody is to see it. Its text is known to this process alone, so that no answer of a tool is taken for it.
var errUnanswered = &jsonrpc.Error{Code: codeCancelled, Message: "cancelled " + rand.Text()}

// ending of an event, and of a message, that is errUnanswered.
var (
	unansweredMessage = []byte(errUnanswered.Message + `"}}`)
	unansweredEvent   = append(bytes.Clone(unansweredMessage), "\n\n"...)
)

// unanswered leaves requests without an answer that their clients have cancelled, as the protocol wants it. On stdin and
// stdout the transport sees to that.
func unanswered(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, r)
		if ctx.Err() == nil || errors.Is(context.Cause(ctx), io.EOF) || r.GetExtra() == nil || r.GetExtra().CloseSSEStream == nil {
			return result, err
		}
		return nil, errUnanswered
	}
}

// events are what was sent to clients over HTTP, kept for those that lose the connection.
type events struct{ *sdk.MemoryEventStore }

// Append keeps an event. What nobody is to see has a place in the order, and no more.
func (e events) Append(ctx context.Context, session, stream string, data []byte) error {
	if bytes.HasSuffix(data, unansweredMessage) {
		data = nil
	}
	return e.MemoryEventStore.Append(ctx, session, stream, data)
}

// headerLastEvent names the event after which a client wants to go on with a stream.
const headerLastEvent = "Last-Event-ID"

// resume answers who wants to go on with a stream on which there is nothing more to come: that there is no stream. A
// client would take one that is empty for another lost connection, and come back for ever. One on which a request was
// cancelled is such a stream, and so is one that has ended in an error, as the SDK for TypeScript understands it.
func resume(w http.ResponseWriter, r *http.Request, next func(http.ResponseWriter)) {
	s := &silence{ResponseWriter: w}
	next(s)
	if !s.broken && r.Context().Err() == nil {
		w.Header().Set("Allow", http.MethodPost+", "+http.MethodDelete)
		refuse(w, http.StatusMethodNotAllowed, "nothing more comes on this stream")
	}
}

// silence is an answer that nothing was said in, until it is broken.
type silence struct {
	http.ResponseWriter
	broken bool
}

func (s *silence) WriteHeader(status int) {
	s.broken = true
	s.ResponseWriter.WriteHeader(status)
}

func (s *silence) Write(data []byte) (int, error) {
	s.broken = true
	return s.ResponseWriter.Write(data)
}

// Flush is for those who ask for it by name. It would say that there is an answer.
func (s *silence) Flush() {
	if s.broken {
		_ = http.NewResponseController(s.ResponseWriter).Flush()
	}
}

// Unwrap is for http.ResponseController.
func (s *silence) Unwrap() http.ResponseWriter { return s.ResponseWriter }
