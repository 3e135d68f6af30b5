package mcp

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"net"
	"sync"

	"github.com/agentco/agent/kernel/internal/schema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// parcels keep all but small pieces of JSON off the SDK's way, which would encode, check and copy each of them several
// times: a result holds a label in the place of each, and the transport puts the pieces there as it writes. On nil, as for
// transports that cannot, nothing is large.
type parcels struct {
	mu   sync.Mutex
	kept map[string][]byte // by label
}

const (
	// largeFrom is how much JSON is worth the trouble.
	largeFrom = 512
	// labelMark begins a label. What follows is random, so that no text of a tool can pass for one.
	labelMark   = "agent-parcel-"
	labelLength = len(labelMark) + 26
)

// structured returns what stands in a result for a payload: itself when nothing is large, else its JSON when that is small.
func (p *parcels) structured(payload structured) any {
	if p == nil {
		return payload
	}
	text := payload.appendJSON(nil)
	if len(text) < largeFrom {
		return json.RawMessage(text)
	}
	return json.RawMessage(`"` + p.keep(text) + `"`)
}

// text returns what stands in a result for some text: itself when it is small.
func (p *parcels) text(text string) string {
	if p == nil || len(text) < largeFrom {
		return text
	}
	return p.keep(schema.AppendText(nil, text))
}

// tool returns what stands in a list for a tool: itself when its schemas are small.
func (p *parcels) tool(t *sdk.Tool) *sdk.Tool {
	if p == nil {
		return t
	}
	labelled := *t
	labelled.InputSchema, labelled.OutputSchema = p.schema(t.InputSchema), p.schema(t.OutputSchema)
	return &labelled
}

func (p *parcels) schema(schema any) any {
	text, ok := schema.(json.RawMessage)
	if !ok || len(text) < largeFrom {
		return schema
	}
	return json.RawMessage(`"` + p.keep(text) + `"`)
}

func (p *parcels) keep(text []byte) (label string) {
	label = labelMark + rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept == nil {
		p.kept = map[string][]byte{}
	}
	p.kept[label] = text
	return label
}

// expand puts the pieces back into a message, without copying them.
func (p *parcels) expand(message []byte) (out net.Buffers) {
	for {
		at, text := p.find(message)
		if at < 0 {
			break
		}
		out = append(out, message[:at-1], text) // the label stands in quotes
		message = message[at+labelLength+1:]
	}
	return append(out, message)
}

// drop forgets the pieces of a result that is not sent.
func (p *parcels) drop(message []byte) {
	for {
		at, _ := p.find(message)
		if at < 0 {
			return
		}
		message = message[at+labelLength:]
	}
}

// find takes out the first piece that a message has a label of, and says where that is; below zero when it has none.
func (p *parcels) find(message []byte) (at int, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) == 0 {
		return -1, nil
	}
	for from := 0; ; {
		i := bytes.Index(message[from:], []byte(labelMark))
		if i < 0 || from+i+labelLength > len(message) {
			return -1, nil
		}
		at, label := from+i, string(message[from+i:from+i+labelLength])
		if text, ok := p.kept[label]; ok {
			delete(p.kept, label)
			return at, text
		}
		from += i + len(labelMark)
	}
}
