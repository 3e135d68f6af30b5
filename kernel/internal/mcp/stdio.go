package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdio is the transport of one client, a message a line. It is our own because the SDK's ends at the first line that is
// no message, answers requests that were cancelled, takes any number of them at a time, and writes a megabyte of text
// four times over.
type stdio struct {
	in    io.ReadCloser
	out   io.Writer
	most  int // requests at a time
	large *parcels
	log   *slog.Logger
	// gone is closed when the client will say no more.
	gone chan struct{}

	incoming chan arrival
	closed   chan struct{}
	closing  sync.Once
	queue    []jsonrpc.Message // of a batch

	writing sync.Mutex // guards out
	mu      sync.Mutex // guards what follows
	pending map[jsonrpc.ID]*pending
	broken  error // why nothing can be written any more
}

// pending is a request that has not been answered.
type pending struct{ cancelled bool }

type arrival struct {
	line []byte
	err  error
}

func newStdio(in io.ReadCloser, out io.Writer, most int, log *slog.Logger) *stdio {
	return &stdio{
		in: in, out: out, most: most, large: &parcels{}, log: log, gone: make(chan struct{}),
		incoming: make(chan arrival), closed: make(chan struct{}), pending: map[jsonrpc.ID]*pending{},
	}
}

// Connect begins to read.
func (t *stdio) Connect(context.Context) (sdk.Connection, error) {
	go t.receive()
	return t, nil
}

// receive reads on its own, as nothing can wake a reader of stdin.
func (t *stdio) receive() {
	defer close(t.gone)
	l := &lines{bufio.NewReaderSize(t.in, 64<<10)}
	for {
		line, err := l.next()
		select {
		case t.incoming <- arrival{line, err}:
		case <-t.closed:
			return
		}
		if err != nil && !errors.Is(err, errTooLong) {
			return
		}
	}
}

// SessionID is empty: there is one client.
func (t *stdio) SessionID() string { return "" }

// failure is what ended the session, if that was not its client or this server.
func (t *stdio) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.broken
}

// Close stops reading.
func (t *stdio) Close() error {
	t.closing.Do(func() {
		close(t.closed)
		_ = t.in.Close()
	})
	return nil
}

// Read returns the next message. What is none is answered here, and does not end the session.
func (t *stdio) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if len(t.queue) > 0 {
			m := t.queue[0]
			t.queue = t.queue[1:]
			if t.admit(m) {
				return m, nil
			}
			continue
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-t.closed:
			return nil, io.EOF
		case a := <-t.incoming:
			switch {
			case errors.Is(a.err, errTooLong):
				t.complain(jsonrpc.CodeInvalidRequest, a.err.Error())
			case a.err != nil:
				return nil, closing(a.err)
			default:
				t.queue = t.parse(a.line)
			}
		}
	}
}

// closing is what ended the input, as the SDK wants to hear it: every end is the client's.
func closing(err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return fmt.Errorf("%w: %w", io.EOF, err)
}

// parse takes a line apart. Batches, which some versions of the protocol have, are answered one by one.
func (t *stdio) parse(line []byte) []jsonrpc.Message {
	if line[0] == '[' {
		return t.batch(line)
	}
	m, err := jsonrpc.DecodeMessage(line)
	switch {
	case err == nil:
		return []jsonrpc.Message{m}
	case json.Valid(line):
		t.complain(jsonrpc.CodeInvalidRequest, "not a message of JSON-RPC 2.0: "+err.Error())
	default:
		t.complain(jsonrpc.CodeParseError, "not JSON, or not in one line")
	}
	return nil
}

func (t *stdio) batch(line []byte) (messages []jsonrpc.Message) {
	var raw []json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil || len(raw) == 0 {
		t.complain(jsonrpc.CodeInvalidRequest, "neither a message nor a list of messages")
		return nil
	}
	for _, one := range raw {
		if one[0] == '[' {
			t.complain(jsonrpc.CodeInvalidRequest, "a list in a list of messages")
			continue
		}
		messages = append(messages, t.parse(one)...)
	}
	return messages
}

// admit notes requests, and refuses one too many. It notes cancellations: what was cancelled gets no answer.
func (t *stdio) admit(m jsonrpc.Message) bool {
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return true
	}
	if !r.IsCall() {
		t.noteCancelled(r)
		return true
	}
	t.mu.Lock()
	full := len(t.pending) >= t.most
	if _, known := t.pending[r.ID]; !full && !known {
		t.pending[r.ID] = &pending{}
	}
	t.mu.Unlock()
	if full {
		err := &jsonrpc.Error{Code: codeBusy, Message: fmt.Sprintf("%d requests wait for an answer already, which is the most", t.most)}
		_ = t.send(&jsonrpc.Response{ID: r.ID, Error: err})
	}
	return !full
}

func (t *stdio) noteCancelled(r *jsonrpc.Request) {
	if r.Method != "notifications/cancelled" {
		return
	}
	var p sdk.CancelledParams
	if json.Unmarshal(r.Params, &p) != nil {
		return
	}
	id, err := jsonrpc.MakeID(p.RequestID)
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if q := t.pending[id]; q != nil && !q.cancelled {
		q.cancelled = true
		t.log.Info("the client cancelled a request", "id", fmt.Sprint(id.Raw()), "reason", p.Reason)
	}
}

// Write sends a message, unless it answers a request that was cancelled.
func (t *stdio) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r, ok := m.(*jsonrpc.Response); ok && t.settled(r) {
		t.large.drop(r.Result)
		return nil
	}
	return t.send(m)
}

// settled takes an answer's request off the list, and reports whether nobody wants the answer any more.
func (t *stdio) settled(r *jsonrpc.Response) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pending[r.ID]
	delete(t.pending, r.ID)
	return p != nil && p.cancelled
}

func (t *stdio) send(m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	_, err = t.large.expand(append(text, '\n')).WriteTo(t.out)
	t.wrote(err)
	return err
}

// wrote notes what stopped the writing. A client that does not read any more is gone, which is no failure.
func (t *stdio) wrote(err error) {
	if err == nil || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken == nil {
		t.broken = fmt.Errorf("cannot write to the client: %w", err)
	}
}

// complain answers what cannot be answered by its id.
func (t *stdio) complain(code int, text string) {
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": text},
	})
	if err != nil {
		return
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	_, _ = t.out.Write(append(line, '\n'))
}
