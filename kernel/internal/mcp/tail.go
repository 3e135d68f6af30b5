package mcp

import (
	"github.com/agentco/agent/kernel/internal/paint"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// tail keeps the last of what a call prints: when it fails there is no result to say it. The zero value is ready.
type tail struct {
	chunks []*toolv1.ToolEvent_OutputChunk
	size   int
	cut    bool
}

const longestTail = 16 << 10

func (t *tail) write(c *toolv1.ToolEvent_OutputChunk) {
	t.chunks, t.size = append(t.chunks, c), t.size+len(c.GetData())
	for t.size-len(t.chunks[0].GetData()) >= longestTail {
		t.size -= len(t.chunks[0].GetData())
		t.chunks, t.cut = t.chunks[1:], true
	}
}

// text is the last of it, made harmless.
func (t *tail) text() string {
	var o paint.Output
	text := ""
	if t.cut {
		text = "[…]\n"
	}
	for i, c := range t.chunks {
		data := c.GetData()
		if i == 0 && t.size > longestTail {
			data = data[min(len(data), t.size-longestTail):]
		}
		text += o.Chunk(c.GetStream(), data)
	}
	return text + o.End()
}
