package mcp

import (
	"bytes"
	"unicode/utf8"

	"github.com/agentco/agent/kernel/internal/paint"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// tail keeps the last of what a call prints: when it fails there is no result to say it, and of a hundred megabytes only
// that is painted.
type tail struct {
	most   int // bytes that are told of it
	chunks []*toolv1.ToolEvent_OutputChunk
	size   int
	cut    bool
}

// longestTail is how much is kept of a call that fails.
const longestTail = 16 << 10

func (t *tail) write(c *toolv1.ToolEvent_OutputChunk) {
	t.chunks, t.size = append(t.chunks, c), t.size+len(c.GetData())
	for t.size-len(t.chunks[0].GetData()) >= t.most {
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
	return text + t.paint(&o) + o.End()
}

// paint paints what is kept.
func (t *tail) paint(o *paint.Output) string {
	text := ""
	for i, c := range t.chunks {
		data := c.GetData()
		if i == 0 && t.size > t.most {
			data = fromLine(data[t.size-t.most:], len(t.chunks) == 1)
		}
		text += o.Chunk(c.GetStream(), data)
	}
	return text
}

// fromLine is what was cut from the beginning of a line on, else of a character: half an escape sequence would be seen.
// Of what is all there is, something is left.
func fromLine(data []byte, all bool) []byte {
	if end := bytes.IndexByte(data, '\n'); end >= 0 && (end < len(data)-1 || !all) {
		return data[end+1:]
	}
	for len(data) > 0 && !utf8.RuneStart(data[0]) {
		data = data[1:]
	}
	return data
}
