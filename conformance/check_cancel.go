package conformance

import (
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/conformance/internal/processes"
	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// longestOutput bounds the output in a report.
const longestOutput = 64 << 10

// eachCancelled looks at every call that was cancelled.
func eachCancelled(what string, look func(*tally, cancelled)) check {
	return func(s *subject) finding {
		c := s.cancels()
		if c.err != nil {
			return unusable(c.err)
		}
		var t tally
		over := 0
		for _, one := range c.calls {
			if one.over {
				over++
				continue
			}
			look(&t, one)
		}
		if t.count == 0 && len(t.problems) == 0 && over > 0 {
			return skipped("there are no %s: %d ended before they could be cancelled", what, over)
		}
		return t.of(what)
	}
}

func isResource(c cancelled) bool {
	return c.call.operation.GetKind() == toolv1.ToolKind_TOOL_KIND_RESOURCE
}

func cancelReport(t *tally, c cancelled) {
	if !isResource(c) || !c.begun {
		return
	}
	t.count++
	if len(c.reports) == 0 {
		t.add("there is none of %s; %s", c.call, c.silence)
	}
}

func cancelReportShape(t *tally, c cancelled) {
	for _, r := range c.reports {
		t.count++
		for _, problem := range r.problems(c.call.call) {
			t.add("that of %s %s", c.call, problem)
		}
	}
	if len(c.reports) > 1 {
		t.add("there are %d of %s", len(c.reports), c.call)
	}
}

// problems says what is wrong with the form of a report.
func (r report) problems(call *toolv1.ToolCall) (out []string) {
	failed := r.event.GetError()
	details := failed.GetDetails().GetFields()
	text, isText := details["output"].GetKind().(*structpb.Value_StringValue)
	for problem, found := range map[string]bool{
		"is an event of kind " + r.request.GetKind().String():       r.request.GetKind() != kernelv1.EventKind_EVENT_KIND_TOOL_RESULT,
		"has schema version " + quote(r.request.GetSchemaVersion()): r.request.GetSchemaVersion() != "1",
		"names the session " + quote(r.request.GetSessionId()):      r.request.GetSessionId() != call.GetCallContext().GetSessionId(),
		"names the call " + quote(r.event.GetToolCallId()):          r.event.GetToolCallId() != call.GetId(),
		"has no message":                       failed != nil && failed.GetMessage() == "",
		"has no partial_result in its details": failed != nil && details["partial_result"] == nil,
		"has an output that is no text":        details["output"] != nil && !isText,
		"has an output of more than 64 KiB":    isText && len(text.StringValue) > longestOutput*4/3+4,
	} {
		if found {
			out = append(out, problem)
		}
	}
	return out
}

func cancelNoTerminal(t *tally, c cancelled) {
	t.count++
	if n := len(c.call.terminals()); n > 0 {
		t.add("%s has a result or an error", c.call)
	}
	for _, r := range c.reports {
		switch {
		case r.event.GetResult() != nil:
			t.add("%s is reported with a result", c.call)
		case r.event.GetError() != nil && r.event.GetError().GetCategory() != toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED:
			t.add("%s is reported with %s", c.call, errorName(r.event.GetError()))
		}
	}
}

func cancelTime(t *tally, c cancelled) {
	for _, r := range c.reports[:min(1, len(c.reports))] {
		if !isResource(c) {
			continue
		}
		t.count++
		if r.after > grace+margin {
			t.add("that of %s came after %s", c.call, r.after.Round(100*time.Millisecond))
		}
	}
}

func cancelProcesses(t *tally, c cancelled) {
	t.count++
	if len(c.left) > 0 {
		t.add("of %s there is %s", c.call, quote(c.left[0]))
	}
}

func knowsProcesses(then check) check {
	return func(s *subject) finding {
		if !processes.Supported {
			return skipped("processes cannot be told apart on this system")
		}
		return then(s)
	}
}

func cancelSurvives(t *tally, c cancelled) {
	t.count++
	if c.lives != nil {
		t.add("after %s: %v", c.call, c.lives)
	}
}
