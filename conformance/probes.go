package conformance

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/conformance/client"
	"github.com/agentco/agent/conformance/internal/subset"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// strange calls operations that do not exist.
func (l *life) strange() {
	for _, offered := range l.subject.discovery().surfaces {
		op := operation{offered.category, &toolv1.ToolSchema{Name: "conformance_unknown_operation"}}
		l.seen.strangers = append(l.seen.strangers, l.invoke(op, "does not exist", l.call(op, &structpb.Struct{}, "")))
		l.survived("a call of an unknown operation")
	}
}

// tested gives, for each category, an operation that may be called again and again: one that only reads.
func (s *subject) tested() (out []operation) {
	for _, offered := range s.discovery().surfaces {
		for _, op := range offered.operations {
			if op.GetKind() == toolv1.ToolKind_TOOL_KIND_DATA_SOURCE {
				out = append(out, op)
				break
			}
		}
	}
	return out
}

// extend makes a call with and without fields from a later version of the protocol.
func (l *life) extend() {
	later := protowire.AppendString(protowire.AppendTag(nil, 1999, protowire.BytesType), "of a later version")
	for _, op := range l.subject.tested() {
		good, directory := l.good(op)
		plain := l.invoke(op, "as it is", l.call(op, good, directory))
		call := l.call(op, good, directory)
		call.ProtoReflect().SetUnknown(later)
		call.GetCallContext().ProtoReflect().SetUnknown(later)
		l.seen.extended = append(l.seen.extended, extended{plain, l.invoke(op, "with unknown fields", call)})
		l.survived("unknown fields")
	}
}

// largeArgument is a text that leaves a request just below gRPC's limit of 4 MiB.
const largeArgument = 3_900 << 10

func (l *life) enlarge() {
	op, argument, ok := l.subject.roomy()
	if !ok {
		return
	}
	good, directory := l.good(op)
	text := make([]byte, largeArgument)
	for i := range text {
		text[i] = 'a'
	}
	arguments := subset.With(good, argument, structpb.NewStringValue(string(text)))
	l.seen.large = append(l.seen.large, l.invoke(op, "3.9 MiB in "+argument, l.call(op, arguments, directory)))
	l.survived("a large argument")
}

// roomy finds an argument that takes any text, of an operation that only reads if there is one.
func (s *subject) roomy() (operation, string, bool) {
	for _, reading := range []bool{true, false} {
		for _, op := range s.discovery().operations() {
			if (op.GetKind() == toolv1.ToolKind_TOOL_KIND_DATA_SOURCE) != reading || !s.free(op) {
				continue
			}
			for _, wrong := range subset.Spoil(op.GetInputSchema(), nil) {
				property := op.GetInputSchema().GetProperties()[wrong.Argument]
				if wrong.Fault == subset.Type && subset.AnyText(property) {
					return op, wrong.Argument, true
				}
			}
		}
	}
	return operation{}, "", false
}

// renderGarbage asks to show what is no payload.
func (l *life) renderGarbage() {
	for _, offered := range l.subject.discovery().surfaces {
		for _, text := range []string{"", "{", "[1]", "null", "\xff\xfe", `{"conformance":{"deep":[1,null,true]}}`} {
			l.seen.renders = append(l.seen.renders, l.renderOf(offered.category, "the payload "+quote(text), []byte(text)))
			if !l.survived("Render of the payload " + quote(text)) {
				l.seen.renders[len(l.seen.renders)-1].label += ", which killed it"
			}
			if l.seen.err != nil {
				return
			}
		}
	}
}

// sendGarbage sends bytes that are no message to every method.
func (l *life) sendGarbage() {
	for _, offered := range l.subject.discovery().surfaces {
		of := service{category: offered.category}
		for _, method := range []string{of.listing(), "Describe", "Invoke", "Preview", "Render", "Configure"} {
			ctx, cancel := l.subject.patient()
			err := client.SendRaw(ctx, l.Conn, of.path(method), []byte{0x0a, 0xff, 0xff, 0xff})
			cancel()
			died := !l.survived("bytes that are no message, sent to " + method)
			l.seen.garbage = append(l.seen.garbage, garbled{of.path(method), err, died})
			if l.seen.err != nil {
				return
			}
		}
	}
}

// callQuietly makes the first calls of a session for a kernel whose callbacks are out of the ordinary.
func (s *subject) callQuietly(adjust func(*client.Options)) session {
	const few = 6
	r, err := s.configured(adjust)
	if err != nil {
		return session{err: err}
	}
	l := &life{running: r, subject: s}
	for _, c := range r.place.situation.Calls[:min(few, len(r.place.situation.Calls))] {
		if op, ok := s.discovery().find(c.Operation); ok && c.Cancel == nil && !c.Late() {
			l.seen.tries = append(l.seen.tries, try{planned: &c, call: l.invoke(op, c.Name, l.call(op, c.Arguments, c.Directory))})
		}
	}
	if len(l.seen.tries) == 0 {
		for _, op := range s.tested() {
			l.seen.tries = append(l.seen.tries, try{call: l.invoke(op, "made up", l.call(op, subset.Valid(op.GetInputSchema()), ""))})
		}
	}
	if r.Exited() {
		l.seen.deaths = append(l.seen.deaths, "its calls")
	}
	l.seen.end = r.shutDown()
	return l.seen
}

// slowness is how late a slow kernel answers a callback.
const slowness = 300 * time.Millisecond
