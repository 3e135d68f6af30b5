package conformance

import (
	"fmt"
	"math"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/conformance/internal/subset"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// lived gives a session to a check, if there was one.
func lived(look func(session) finding) check {
	return func(s *subject) finding {
		if err := s.session().err; err != nil {
			return unusable(err)
		}
		return look(s.session())
	}
}

// eachCall looks at every call that was left to end.
func eachCall(look func(*tally, transcript)) check {
	return lived(func(l session) finding {
		var t tally
		for _, call := range l.transcripts() {
			t.count++
			look(&t, call)
		}
		return t.of("calls")
	})
}

// eachEvent looks at every event of them, and at those of cancelled calls before the cancellation.
func eachEvent(what string, look func(*tally, transcript, *toolv1.ToolEvent)) check {
	return func(s *subject) finding {
		return lived(func(l session) finding {
			calls := l.transcripts()
			for _, c := range s.cancels().calls {
				calls = append(calls, c.call)
			}
			var t tally
			for _, call := range calls {
				for _, e := range call.events {
					look(&t, call, e)
				}
			}
			return t.of(what)
		})(s)
	}
}

// argumentsRefused looks at the calls whose arguments have one fault.
func argumentsRefused(fault subset.Fault) check {
	return lived(func(l session) finding {
		var t tally
		for _, try := range l.tries {
			if try.spoilt == nil || try.spoilt.Fault != fault {
				continue
			}
			t.count++
			if got := try.call.ending(); got != "invalid_arguments" && !t.fell(try.call) {
				t.add("%s ends with %s", try.call, got)
			}
		}
		return t.of("calls with such arguments")
	})
}

func operationUnknown(l session) finding {
	var t tally
	for _, call := range l.strangers {
		t.count++
		if got := call.ending(); got != "invalid_arguments" && got != "not_found" && !t.fell(call) {
			t.add("a %s that does not exist ends with %s", categoryName(call.operation.category), got)
		}
	}
	return t.of("calls of operations that do not exist")
}

func invokeOneTerminal(t *tally, call transcript) {
	switch n := len(call.terminals()); {
	case call.died != "":
		if t.fell(call); len(t.deaths) == 1 {
			t.add("%s", call.died)
		}
	case n == 0 && call.err != nil:
		t.add("%s ends with neither, and the status %s: %s", call, status.Code(call.err), message(call.err))
	case n == 0:
		t.add("%s ends with neither", call)
	case n > 1:
		t.add("%s has %d", call, n)
	}
}

func invokeNothingAfter(t *tally, call transcript) {
	for i, e := range call.events {
		if e.GetResult() == nil && e.GetError() == nil {
			continue
		}
		switch rest := call.events[i+1:]; {
		case len(rest) > 0:
			t.add("%s goes on with %s", call, eventName(rest[0]))
		case call.err != nil:
			t.add("the stream of %s ends with %s: %s", call, status.Code(call.err), message(call.err))
		}
		return
	}
}

func eventName(e *toolv1.ToolEvent) string {
	switch {
	case e.GetOutputChunk() != nil:
		return "an output_chunk"
	case e.GetProgress() != nil:
		return "a progress"
	case e.GetPartialResult() != nil:
		return "a partial_result"
	case e.GetExitStatus() != nil:
		return "an exit_status"
	case e.GetResult() != nil:
		return "a result"
	case e.GetError() != nil:
		return "an error"
	default:
		return "an empty event"
	}
}

func invokeExitStatusOnce(t *tally, call transcript) {
	count, over := 0, false
	for _, e := range call.events {
		over = over || e.GetResult() != nil || e.GetError() != nil
		if e.GetExitStatus() == nil {
			continue
		}
		if count++; over {
			t.add("%s has one after its end", call)
		}
	}
	if count > 1 {
		t.add("%s has %d", call, count)
	}
}

func eventValid(t *tally, call transcript, e *toolv1.ToolEvent) {
	t.count++
	switch {
	case e.GetEvent() == nil:
		t.add("%s has an empty event", call)
	case e.GetOutputChunk() != nil:
		if of := e.GetOutputChunk().GetStream(); of != toolv1.OutputStream_OUTPUT_STREAM_STDOUT && of != toolv1.OutputStream_OUTPUT_STREAM_STDERR {
			t.add("%s has a chunk of %s", call, of)
		}
	}
}

func streamingDeclared(t *tally, call transcript) {
	for _, e := range call.events {
		if !call.operation.GetStreaming() && (e.GetOutputChunk() != nil || e.GetPartialResult() != nil) {
			t.add("%s sends %s", call, eventName(e))
			return
		}
	}
}

func progressFraction(t *tally, call transcript, e *toolv1.ToolEvent) {
	if e.GetProgress() == nil || e.GetProgress().FractionComplete == nil {
		return
	}
	t.count++
	if f := e.GetProgress().GetFractionComplete(); math.IsNaN(f) || f < 0 || f > 1 {
		t.add("%s says %v", call, f)
	}
}

func resultOutputSchema(l session) finding {
	var t tally
	for _, call := range l.transcripts() {
		if call.result() == nil || call.operation.category != commonv1.Category_CATEGORY_TOOL {
			continue
		}
		t.count++
		payload := call.result().GetPayload()
		if payload == nil {
			payload = &structpb.Struct{}
		}
		for _, problem := range subset.Conforms(call.operation.GetOutputSchema(), structpb.NewStructValue(payload)) {
			t.add("%s: %s", call, problem)
		}
	}
	return t.of("payloads of tools")
}

func contextDirectory(l session) finding {
	var t tally
	for _, try := range l.tries {
		if try.planned == nil || try.planned.Directory == "" {
			continue
		}
		t.count++
		if problem := try.unexpected(); problem != "" && !t.fell(try.call) {
			t.add("in %s, %s", quote(try.planned.Directory), problem)
		}
	}
	if t.count == 0 {
		return skipped("no call of the scenario has a directory")
	}
	return t.of("calls with a directory")
}

func scenarioExpected(s *subject) finding {
	if !s.discovery().whole() {
		return skipped("a category does not answer, so its calls cannot be made")
	}
	return lived(func(l session) finding {
		var t tally
		for _, try := range l.tries {
			if try.planned == nil {
				continue
			}
			t.count++
			if problem := try.unexpected(); problem != "" && !t.fell(try.call) {
				t.add("%s", problem)
			}
			if try.planned.Preview && try.preview.err != nil {
				t.add("%s: %v", try.preview.label, try.preview.err)
			}
			if try.planned.Render && try.call.died == "" && (try.rendered == nil || try.rendered.err != nil) {
				t.add("%s is not rendered", try.call)
			}
		}
		situation, err := s.scenario.In(s.base)
		if err != nil {
			return broken("%v", err)
		}
		for _, c := range situation.Calls {
			if _, ok := s.discovery().find(c.Operation); !ok {
				t.add("the scenario calls %s, which does not exist", quote(c.Operation))
			}
		}
		return t.of("calls of the scenario")
	})(s)
}

// kindReads looks at the working folder around the calls of data sources.
func kindReads(l session) finding {
	var t tally
	for _, try := range l.tries {
		if try.spoilt != nil || try.call.operation.GetKind() != toolv1.ToolKind_TOOL_KIND_DATA_SOURCE {
			continue
		}
		t.count++
		for _, change := range try.wrote {
			t.add("by %s %s", try.call, change)
		}
	}
	return t.of("calls of data sources")
}

// outputBytes compares what calls printed with what the scenario says.
func outputBytes(l session) finding {
	var t tally
	for _, try := range l.tries {
		if try.planned == nil {
			continue
		}
		for _, of := range []struct {
			name   string
			stream toolv1.OutputStream
			want   *string
		}{
			{"stdout", toolv1.OutputStream_OUTPUT_STREAM_STDOUT, try.planned.Stdout},
			{"stderr", toolv1.OutputStream_OUTPUT_STREAM_STDERR, try.planned.Stderr},
		} {
			if of.want == nil {
				continue
			}
			t.count++
			if t.fell(try.call) {
				continue
			}
			if problem := differs(*of.want, string(try.call.printed()[of.stream])); problem != "" {
				t.add("%s of %s %s", of.name, try.call, problem)
			}
		}
	}
	if t.count == 0 {
		return skipped("no call of the scenario says what it prints")
	}
	return t.of("outputs")
}

// differs says where one text is no other.
func differs(want, got string) string {
	const most = 40
	if want == got {
		return ""
	}
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	return fmt.Sprintf("has %d bytes, not %d, and from byte %d on it is %s, not %s",
		len(got), len(want), at, quote(got[at:min(len(got), at+most)]), quote(want[at:min(len(want), at+most)]))
}

// unexpected says how a planned call ended otherwise than the scenario says; empty when it did not.
func (t try) unexpected() string {
	if t.unresolved != nil {
		return t.call.String() + ": " + t.unresolved.Error()
	}
	if got := t.call.ending(); got != t.planned.Expect {
		text := t.call.String() + " ends with " + got + ", not " + t.planned.Expect
		if e := t.call.failure(); e != nil {
			text += ": " + quote(e.GetMessage())
		}
		return text
	}
	if t.planned.Payload == nil {
		return ""
	}
	if problem := lacks("", structpb.NewStructValue(t.planned.Payload), structpb.NewStructValue(t.call.result().GetPayload())); problem != "" {
		return t.call.String() + ": " + problem
	}
	return ""
}

func concurrencyParallel(s *subject) finding {
	c := s.crowd()
	if c.err != nil {
		return unusable(c.err)
	}
	var t tally
	var ops []operation
	for _, one := range c.calls {
		ops = append(ops, one.op)
	}
	for _, one := range c.calls {
		t.count++
		switch got := one.call.ending(); {
		case one.call.died != "" && s.session().lethal(ops...) && t.fell(one.call):
		case got != one.expected:
			t.add("%s ends with %s, not %s", one.call, got, one.expected)
		case one.alone != nil && !proto.Equal(one.alone, one.call.result()):
			t.add("%s has another payload than alone", one.call)
		}
	}
	return t.of("calls that may run side by side")
}
