package cli

import (
	"bytes"
	"fmt"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// What of the output of a call is shown on a terminal once it was cancelled, in bytes: what comes next, so that whoever has
// pressed Ctrl-C sees what a command says to that, and what came last. A terminal may be slower than a command by far, and
// have megabytes before it when it was cancelled; the log has them all.
const (
	shownAfterCancel = 64 << 10
	shownAtTheEnd    = 8 << 10
)

// lateOutput is what a call has printed since it was cancelled.
type lateOutput struct {
	shown   int
	skipped int64
	last    []*toolv1.ToolEvent_OutputChunk
	kept    int
}

// keep takes a chunk, or reports that it can be shown at once.
func (l *lateOutput) keep(c *toolv1.ToolEvent_OutputChunk) bool {
	if l.shown += len(c.GetData()); l.shown <= shownAfterCancel {
		return false
	}
	l.last = append(l.last, &toolv1.ToolEvent_OutputChunk{Stream: c.GetStream(), Data: bytes.Clone(c.GetData())})
	l.kept += len(c.GetData())
	for first := len(l.last[0].GetData()); l.kept-first >= shownAtTheEnd; first = len(l.last[0].GetData()) {
		l.skip(first)
		l.last = l.last[1:]
	}
	return true
}

func (l *lateOutput) skip(n int) {
	l.skipped += int64(n)
	l.kept -= n
}

// end shows what came last, in whole lines, behind how much is not shown.
func (l *lateOutput) end(d *display) {
	if len(l.last) == 0 {
		return
	}
	if over := l.kept - shownAtTheEnd; over > 0 {
		over += bytes.IndexByte(l.last[0].Data[over:], '\n') + 1
		l.last[0].Data = l.last[0].Data[over:]
		l.skip(over)
	}
	if l.skipped > 0 {
		text := fmt.Sprintf("left out: %s of output, which agent session replay has", sizeText(l.skipped))
		d.Note(d.ErrPainter().Dim(text))
	}
	for _, c := range l.last {
		d.Chunk(c)
	}
	*l = lateOutput{}
}
