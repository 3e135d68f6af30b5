package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdio is the transport of one client, a message a line. It is our own because the SDK's ends at the first line that is
// no message, answers requests that were cancelled, takes any number of them at a time, and writes a megabyte of text
// four times over.
type stdio struct {
	in    io.ReadCloser
	out   *outbox
	most  int // requests at a time
	large *parcels
	// direct serves calls past the SDK.
	direct *direct
	log    *slog.Logger
	// gone is closed when nothing is read from the client any more.
	gone    chan struct{}
	leaving sync.Once

	incoming chan arrival
	closed   chan struct{}
	closing  sync.Once
	queue    []jsonrpc.Message // of a batch
	answered chan struct{}     // holds something when an answer has been begun

	mu      sync.Mutex // guards what follows
	pending map[jsonrpc.ID]*pending
	broken  error // why the session cannot go on
}

type arrival struct {
	line []byte
	err  error
}

func newStdio(s *Server, in io.ReadCloser, out io.Writer) *stdio {
	return &stdio{
		in: in, out: newOutbox(out), most: s.options.MostCalls, large: &parcels{}, direct: newDirect(s), log: s.options.Log, gone: make(chan struct{}),
		incoming: make(chan arrival), closed: make(chan struct{}), answered: make(chan struct{}, 1), pending: map[jsonrpc.ID]*pending{},
	}
}

// Connect begins to read and to write.
func (t *stdio) Connect(context.Context) (sdk.Connection, error) {
	go t.out.run()
	go t.receive()
	return t, nil
}

// receive reads on its own, as nothing can wake a reader of stdin.
func (t *stdio) receive() {
	defer t.hangUp()
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

func (t *stdio) hangUp() { t.leaving.Do(func() { close(t.gone) }) }

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

// Read returns the next message for the SDK. What is none is answered here, and does not end the session.
func (t *stdio) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := t.read(ctx)
	if err != nil {
		t.abandon(err)
	}
	return m, err
}

func (t *stdio) read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if err := t.failure(); err != nil {
			return nil, closing(err)
		}
		if len(t.queue) > 0 {
			m := t.queue[0]
			t.queue = t.queue[1:]
			if t.admit(m) && !t.direct.take(ctx, t, m) {
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
				t.settle(ctx)
				return nil, closing(a.err)
			default:
				t.queue = t.parse(a.line)
			}
		}
	}
}

// settle lets the answers come to what the client asked for before it hung up, as it may still read. Calls do not keep it:
// they are cancelled meanwhile.
func (t *stdio) settle(ctx context.Context) {
	late := time.NewTimer(farewell)
	defer late.Stop()
	for t.owes() {
		select {
		case <-t.answered:
		case <-late.C:
			return
		case <-t.closed:
			return
		case <-ctx.Done():
			return
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
	if call := plainCall(line); call != nil {
		return []jsonrpc.Message{call}
	}
	m, err := jsonrpc.DecodeMessage(line)
	switch {
	case err == nil && !alone(line):
		t.complain(jsonrpc.CodeParseError, notJSON)
	case err == nil && !exactID(line):
		t.complain(jsonrpc.CodeInvalidRequest, inexactID)
	case err == nil:
		return []jsonrpc.Message{m}
	case json.Valid(line):
		t.complain(jsonrpc.CodeInvalidRequest, "not a message of JSON-RPC 2.0: "+err.Error())
	default:
		t.complain(jsonrpc.CodeParseError, notJSON)
	}
	return nil
}

// notJSON is what is wrong with a line that holds no message, or more than one.
const notJSON = "not JSON, or not in one line"

// longestBatch is how many messages one line may hold.
const longestBatch = 1000

func (t *stdio) batch(line []byte) (messages []jsonrpc.Message) {
	raw, err := elements(line)
	if err != nil {
		t.complain(jsonrpc.CodeInvalidRequest, err.Error())
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

// errNoMessages is what is wrong with a line that begins like a list.
var errNoMessages = errors.New("neither a message nor a list of messages")

// elements takes a list apart, and stops at one that is too long: a line of megabytes can hold millions of them.
func elements(line []byte) (list []json.RawMessage, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	if _, err := d.Token(); err != nil {
		return nil, errNoMessages
	}
	for d.More() {
		if len(list) == longestBatch {
			return nil, fmt.Errorf("a list of more than %d messages", longestBatch)
		}
		var one json.RawMessage
		if err := d.Decode(&one); err != nil {
			return nil, errNoMessages
		}
		list = append(list, one)
	}
	_, err = d.Token()
	if _, more := d.Token(); err != nil || !errors.Is(more, io.EOF) || len(list) == 0 {
		return nil, errNoMessages
	}
	return list, nil
}

// Write sends a message, unless it answers a request that was cancelled.
func (t *stdio) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r, ok := m.(*jsonrpc.Response); ok {
		if t.settled(r) {
			t.large.drop(r.Result)
			return nil
		}
		r.Error = coded(r.Error)
	}
	return t.send(m)
}

// coded gives an error of the SDK's that has no code the one of a request that is out of place, as before the greeting.
func coded(err error) error {
	var wire *jsonrpc.Error
	if err == nil || errors.As(err, &wire) && wire.Code != 0 {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
}

func (t *stdio) send(m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	err = t.out.send(t.large.expand(append(text, '\n')))
	t.wrote(err)
	return err
}

// wrote notes what stopped the writing. A client that does not read any more is gone, which is no failure.
func (t *stdio) wrote(err error) {
	if err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, io.ErrClosedPipe) {
		t.fail(fmt.Errorf("cannot write to the client: %w", err))
	}
}

// fail ends the session for a reason.
func (t *stdio) fail(err error) {
	t.mu.Lock()
	if t.broken == nil {
		t.broken = err
	}
	t.mu.Unlock()
	t.hangUp()
}

// refuse answers a request that nobody is told of.
func (t *stdio) refuse(id jsonrpc.ID, why error) {
	if text, err := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: id, Error: why}); err == nil {
		t.post(text)
	}
}

// complain answers what cannot be answered by its id.
func (t *stdio) complain(code int, text string) {
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": text},
	})
	if err == nil {
		t.post(line)
	}
}

// post answers without waiting for the answer to be written, as whoever reads must not: the client's end would go unseen.
func (t *stdio) post(text []byte) {
	if err := t.out.post(append(text, '\n')); errors.Is(err, errUnread) {
		t.fail(err)
	}
}

// finish has what is left written, until the session has ended or there is no more time for it.
func (t *stdio) finish(over <-chan struct{}, late <-chan time.Time) {
	defer t.out.leave()
	select {
	case <-over:
	case <-late:
		return
	}
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		t.direct.serving.Wait()
		_ = t.out.send(nil)
	}()
	select {
	case <-flushed:
	case <-late:
	}
}
