package cli

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/paint"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// listViewer shows calls that run beside each other: to a program as lines of JSON, to a person as they go. Its methods
// are called from many goroutines.
type listViewer interface {
	event(i int, event *toolEvent)
	ended(i int, o engine.Outcome)
	over(*listError)
}

func (a *app) listViewer(s *engine.Session, list []listedCall) listViewer {
	if a.flags.json {
		return &jsonListView{a, list, names(list)}
	}
	v := &humanListView{a: a, names: names(list), ends: map[string]string{}}
	for _, c := range list {
		call := &labelledCall{humanView: newHumanView(a, s.Engine(), c.request.Operation, false)}
		call.label = c.name
		if len(list) == 1 {
			call.label = ""
		}
		for i, screen := range []screen{a.display.out, a.display.err} {
			call.output[i] = labelledOutput{label: c.name, paint: paint.Output{Color: screen.colour}, painter: screen.painter()}
		}
		v.calls = append(v.calls, call)
	}
	return v
}

// summaryJSON is the last line of a list of calls: how many ended in which way.
type summaryJSON struct {
	Calls     int `json:"calls"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
	Crashed   int `json:"crashed"`
	Denied    int `json:"denied"`
	Cancelled int `json:"cancelled"`
	Skipped   int `json:"skipped"`
	ExitCode  int `json:"exit_code"`
}

// jsonListView writes what jsonView does, with the name of the call, and a summary at the end.
type jsonListView struct {
	a     *app
	list  []listedCall
	names map[string]string // by id
}

func (v *jsonListView) event(i int, event *toolEvent) {
	head, _ := json.Marshal(struct {
		Call   string `json:"call"`
		CallID string `json:"call_id"`
	}{v.list[i].name, v.list[i].request.CallID})
	line := json.RawMessage(head[:len(head)-1]) // one object out of two: the event has a name of its own for what it is
	line = append(append(line, ','), eventJSON(event)[1:]...)
	v.a.writeJSON(line)
}

func (v *jsonListView) ended(i int, o engine.Outcome) {
	line := outcomeLine(o)
	out := line["outcome"]
	out.Call, out.SkippedFor = v.list[i].name, v.names[o.SkippedFor]
	line["outcome"] = out
	v.a.noteDenied(v.list[i].name, o)
	v.a.writeJSON(line)
}

func (v *jsonListView) over(e *listError) {
	v.a.writeJSON(map[string]summaryJSON{"summary": {
		Calls: len(e.outcomes), Completed: e.count(engine.Completed), Failed: e.count(engine.Failed), Crashed: e.count(engine.Crashed),
		Denied: e.count(engine.Denied), Cancelled: e.count(engine.Cancelled), Skipped: e.count(engine.Skipped), ExitCode: e.exitCode(),
	}})
}

// humanListView shows a call's output line by line behind its name, and its result in one piece.
type humanListView struct {
	a     *app
	calls []*labelledCall
	names map[string]string // by id
	ends  map[string]string // how those ended that have, by id
	mu    sync.Mutex        // held while something is shown in one piece
}

type labelledCall struct {
	*humanView
	output [2]labelledOutput
}

func (v *humanListView) event(i int, event *toolEvent) {
	c := v.calls[i]
	v.mu.Lock()
	defer v.mu.Unlock()
	switch event := event.GetEvent().(type) {
	case *toolv1.ToolEvent_OutputChunk_:
		if len(v.calls) == 1 {
			c.event(&toolEvent{Event: event})
			return
		}
		c.streamed = c.streamed || len(event.OutputChunk.GetData()) > 0
		if event.OutputChunk.GetStream() == toolv1.OutputStream_OUTPUT_STREAM_STDERR {
			_, _ = io.WriteString(v.a.display.Err(), c.output[1].chunk(event.OutputChunk))
		} else {
			_, _ = io.WriteString(v.a.display.Out(), c.output[0].chunk(event.OutputChunk))
		}
	case *toolv1.ToolEvent_Progress_:
		v.a.display.SetStatus(c.named(progressText(event.Progress)))
	default:
		c.event(&toolEvent{Event: event})
	}
}

func (v *humanListView) ended(i int, o engine.Outcome) {
	c := v.calls[i]
	v.mu.Lock()
	defer v.mu.Unlock()
	_, _ = io.WriteString(v.a.display.Out(), c.output[0].end())
	_, _ = io.WriteString(v.a.display.Err(), c.output[1].end())
	v.ends[o.CallID] = o.Ending()
	v.a.noteDenied(c.label, o)
	if o.Status == engine.Skipped {
		p := v.a.display.ErrPainter()
		v.a.display.Note(p.Warning("skipped: ") + c.named("it comes after "+paint.Line(v.names[o.SkippedFor])+", which "+v.ends[o.SkippedFor]))
		return
	}
	c.outcome(o)
}

func (v *humanListView) over(e *listError) {
	if len(v.calls) > 1 {
		v.a.display.Note(v.a.display.ErrPainter().Dim(e.text()))
	}
}

// noteDenied shows what a call would have done that nobody could approve: whoever reads the log has to know what it was.
// label is its name among others.
func (a *app) noteDenied(label string, o engine.Outcome) {
	if o.Status != engine.Denied || o.Plan.GetPreview() == nil || a.prompt.asked {
		return
	}
	p := a.display.ErrPainter()
	if label != "" {
		label = p.Bold(paint.Line(label)) + p.Dim(" · ")
	}
	a.display.Note(label + planned(o.Plan, p))
}

// labelledOutput paints one stream of a call in whole lines, each behind the call's name: those of several calls mix.
type labelledOutput struct {
	label   string
	paint   paint.Output
	painter paint.Painter
	rest    string
}

// longestRest is how much of a line is waited for.
const longestRest = 64 << 10

func (o *labelledOutput) chunk(c *toolv1.ToolEvent_OutputChunk) string {
	o.rest += o.paint.Chunk(c.GetStream(), c.GetData())
	if len(o.rest) > longestRest {
		o.rest += o.paint.Break()
	}
	end := strings.LastIndexByte(o.rest, '\n') + 1
	whole := o.rest[:end]
	o.rest = o.rest[end:]
	return o.labelled(whole)
}

func (o *labelledOutput) end() string {
	whole := o.rest + o.paint.End()
	o.rest = ""
	return o.labelled(whole)
}

func (o *labelledOutput) labelled(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		b.WriteString(o.painter.Dim(paint.Line(o.label)+" │ ") + line)
	}
	return b.String()
}

// callTook is the time a call needed, when that is worth saying.
func callTook(o engine.Outcome) string {
	if seconds := o.Took.Seconds(); seconds >= 1 {
		return " (" + strconv.FormatFloat(seconds, 'f', 1, 64) + " s)"
	}
	return ""
}
