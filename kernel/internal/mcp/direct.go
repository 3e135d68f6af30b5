package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/agentco/agent/kernel/internal/schema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// direct serves calls of tools past the SDK, which would read each of them three times and write its result three times
// over. The SDK remains the judge of clients: the first call goes by it, as does every other that does not say the same of
// its client, and everything that is no plain call.
type direct struct {
	server  *Server
	session atomic.Pointer[sdk.ServerSession]
	known   atomic.Pointer[caller]
	serving sync.WaitGroup
	// alone is what results say about themselves, as JSON, when that is their server only.
	alone json.RawMessage
}

func newDirect(s *Server) *direct {
	alone, err := json.Marshal(sdk.Meta{sdk.MetaKeyServerInfo: s.implementation()})
	if err != nil {
		panic(err) // it is three texts
	}
	return &direct{server: s, alone: alone}
}

// introduce notes that the SDK has let a client make a call.
func (d *direct) introduce(says introduction) {
	if ss := d.session.Load(); ss != nil {
		d.known.Store(d.server.introduced(ss, says))
	}
}

// prepare makes a request of a call that can be served; ok is false of all others.
func (d *direct) prepare(call *plainRequest) (q request, ok bool) {
	who := d.known.Load()
	if who == nil || who.says != call.says {
		return request{}, false
	}
	op, ok := d.server.tool(call.name)
	if !ok {
		return request{}, false
	}
	args, err := decoded(call.arguments)
	if err != nil {
		return request{}, false
	}
	q = who.request
	q.Operation, q.Arguments, q.token = op, args, call.token
	return q, true
}

// note sees a notification before the SDK does, which a call behind it would overtake there.
func (d *direct) note(r *jsonrpc.Request) {
	if ss := d.session.Load(); ss != nil && r.Method == "notifications/roots/list_changed" {
		d.server.rootsChanged(context.Background(), &sdk.RootsListChangedRequest{Session: ss})
	}
}

// take serves a call that can be served, and reports whether it does.
func (d *direct) take(ctx context.Context, t *stdio, m jsonrpc.Message) bool {
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return false
	}
	call, ok := r.Extra.(*plainRequest)
	if !ok {
		return false
	}
	q, ok := d.prepare(call)
	if !ok {
		t.noteIntroduction(r.ID, call.says)
		return false
	}
	ctx, cancel := context.WithCancelCause(ctx)
	t.noteDirect(r.ID, cancel)
	d.serving.Go(func() {
		defer cancel(nil)
		result, err := d.call(ctx, q)
		if err != nil {
			_ = t.Write(context.WithoutCancel(ctx), &jsonrpc.Response{ID: r.ID, Error: err})
			return
		}
		if !t.settled(&jsonrpc.Response{ID: r.ID}) {
			t.wrote(d.answer(t.out, r.ID, result, q.again))
		}
	})
	return true
}

func (d *direct) call(ctx context.Context, q request) (r *sdk.CallToolResult, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			var told sdk.Result
			told, err = d.server.fault(methodCall, fault)
			r, _ = told.(*sdk.CallToolResult)
		}
	}()
	reply, err := d.server.serve(ctx, q)
	if err != nil {
		return nil, err
	}
	return result(q.Operation, reply.ending, nil), nil
}

// buffers are those of answers that have been written.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// mostKept is the largest of them that is kept.
const mostKept = 1 << 20

// answer sends a result.
func (d *direct) answer(out *outbox, id jsonrpc.ID, r *sdk.CallToolResult, sessionless bool) error {
	buffer := buffers.Get().(*[]byte)
	text, err := d.appendAnswer((*buffer)[:0], id, r, sessionless)
	if err != nil {
		return err
	}
	if err := out.send(net.Buffers{text}); err != nil {
		return err // it may still be read
	}
	if cap(text) <= mostKept {
		*buffer = text
		buffers.Put(buffer)
	}
	return nil
}

// appendAnswer writes a result of this package as the SDK would, from protocol version 2026-07-28 on with what it adds.
func (d *direct) appendAnswer(out []byte, id jsonrpc.ID, r *sdk.CallToolResult, sessionless bool) ([]byte, error) {
	meta, err := d.meta(r, sessionless)
	if err != nil {
		return nil, err
	}
	out = append(slices.Grow(out, roomFor(r)), `{"jsonrpc":"2.0","id":`...)
	if out, err = appendID(out, id); err != nil {
		return nil, err
	}
	out = append(out, `,"result":{`...)
	if sessionless {
		out = append(out, `"resultType":"complete",`...)
	}
	if meta != nil {
		out = append(append(append(out, `"_meta":`...), meta...), ',')
	}
	if r.IsError {
		out = append(out, `"isError":true,`...)
	}
	if payload, ok := r.StructuredContent.(structured); ok {
		out = append(payload.appendJSON(append(out, `"structuredContent":`...)), ',')
	}
	out = append(out, `"content":[`...)
	for i, content := range r.Content {
		if i > 0 {
			out = append(out, ',')
		}
		if text, ok := content.(*sdk.TextContent); ok { // there is nothing else in results of this package
			out = append(schema.AppendText(append(out, `{"type":"text","text":`...), text.Text), '}')
		}
	}
	return append(out, "]}}\n"...), nil
}

func appendID(out []byte, id jsonrpc.ID) ([]byte, error) {
	if number, ok := id.Raw().(int64); ok {
		return strconv.AppendInt(out, number, 10), nil
	}
	text, err := json.Marshal(id.Raw())
	return append(out, text...), err
}

// roomFor is about how long a result becomes, so that megabytes are not moved again and again.
func roomFor(r *sdk.CallToolResult) int {
	const around, escaped = 512, 16 // JSON escapes perhaps one byte in so many
	size := around
	for _, content := range r.Content {
		if text, ok := content.(*sdk.TextContent); ok {
			size += len(text.Text) + len(text.Text)/escaped
		}
	}
	if payload, ok := r.StructuredContent.(structured); ok {
		size += len(payload.encoded) + len(payload.encoded)/escaped
	}
	return size
}

// meta is what a result says about itself and its server, as JSON; nil when that is nothing.
func (d *direct) meta(r *sdk.CallToolResult, sessionless bool) (json.RawMessage, error) {
	switch {
	case len(r.Meta) == 0 && sessionless:
		return d.alone, nil
	case len(r.Meta) == 0:
		return nil, nil
	case !sessionless:
		return json.Marshal(r.Meta)
	}
	both := maps.Clone(r.Meta)
	both[sdk.MetaKeyServerInfo] = d.server.implementation()
	return json.Marshal(both)
}
