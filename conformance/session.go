package conformance

import (
	"errors"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/conformance/client"
	"github.com/agentco/agent/conformance/internal/folder"
	"github.com/agentco/agent/conformance/internal/scenario"
	"github.com/agentco/agent/conformance/internal/subset"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	logv1 "github.com/agentco/agent/proto/pluggableharness/log/v1"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// session is one life of the provider: configured, called in every way, and shut down.
type session struct {
	err       error     // why it could not begin
	later     []surface // what it says of itself once configured
	tries     []try
	strangers []transcript // calls of operations that do not exist
	extended  []extended   // calls with fields that do not exist
	garbage   []garbled
	renders   []shown // of payloads that are none
	large     []transcript
	deaths    []string // after what the process was gone
	logged    []*logv1.LogEntry
	printed   string
	end       ending
}

// try is one call, with its preview before and the rendering of its payload after it.
type try struct {
	planned    *scenario.Call // nil for a call that was made up
	unresolved error          // why its arguments could not be filled in from earlier results
	spoilt     *subset.Spoilt // nil for arguments that fit
	preview    shown
	changes    []string // what the preview did to the working folder
	call       transcript
	rendered   *shown // nil when there was no payload
}

// shown is an answer of Preview or Render.
type shown struct {
	label string
	tree  *renderv1.RenderTree
	err   error
	took  time.Duration
}

// extended is a call made twice: as it is, and with fields that its messages do not have.
type extended struct{ plain, extended transcript }

// garbled is the answer to bytes that are no message.
type garbled struct {
	method string
	err    error // nil when they were taken for one
	died   bool
}

// life is a session under way. A process that dies is replaced, so that one fault does not hide every other.
type life struct {
	*running
	subject *subject
	seen    session
}

func (s *subject) live() session {
	r, err := s.configured(nil)
	if err != nil {
		return session{err: err}
	}
	l := &life{running: r, subject: s}
	for _, offered := range s.discovery().surfaces {
		ctx, cancel := s.patient()
		if later, err := r.service(offered.category).list(ctx); err == nil {
			l.seen.later = append(l.seen.later, later)
		}
		cancel()
	}
	for _, step := range []func(){l.planned, l.madeUp, l.spoilt, l.strange, l.extend, l.enlarge, l.renderGarbage, l.sendGarbage} {
		if step(); l.seen.err != nil {
			return l.seen
		}
	}
	l.seen.logged = append(l.seen.logged, l.Callbacks.Logged()...)
	l.seen.end = l.running.shutDown()
	l.seen.printed += l.Printed()
	return l.seen
}

// survived notes a death and starts the provider anew. It reports whether there was none.
func (l *life) survived(what string) bool {
	if !l.dead() {
		return true
	}
	l.seen.deaths = append(l.seen.deaths, what)
	l.seen.logged = append(l.seen.logged, l.Callbacks.Logged()...)
	l.running.end()
	l.seen.printed += l.Printed()
	next, err := l.subject.configured(nil)
	if err != nil {
		l.seen.err = errors.Join(errors.New("it did not start again after "+what), err)
		return false
	}
	l.running = next
	return false
}

// dead reports whether the process is gone, giving one that is about to go a moment.
func (r *running) dead() bool {
	if r.Exited() {
		return true
	}
	for _, offered := range r.subject.discovery().surfaces[:min(1, len(r.subject.discovery().surfaces))] {
		ctx, cancel := r.subject.patient()
		_, err := r.service(offered.category).list(ctx)
		cancel()
		if err != nil {
			select {
			case <-r.Process.Exited():
				return true
			case <-time.After(time.Second):
				return false
			}
		}
	}
	return false
}

// planned makes the scenario's calls, in its order.
func (l *life) planned() {
	results := map[string]*structpb.Struct{}
	for i, c := range l.place.situation.Calls {
		op, ok := l.subject.discovery().find(c.Operation)
		if !ok || c.Cancel != nil || l.seen.err != nil {
			continue
		}
		resolved, err := c.Resolve(results)
		t := try{planned: &resolved, unresolved: err}
		l.place.situation.Calls[i] = resolved
		made := l.try(&t, op, c.Name, resolved.Arguments, c.Directory)
		if payload := made.result().GetPayload(); payload != nil {
			results[c.Name] = payload
		}
	}
}

// madeUp calls what the scenario does not.
func (l *life) madeUp() {
	for _, op := range l.subject.discovery().operations() {
		if slices.Contains(l.subject.scenario.Operations(), op.GetName()) || !l.subject.free(op) || l.seen.err != nil {
			continue
		}
		l.try(&try{}, op, "made up", subset.Valid(op.GetInputSchema()), "")
	}
}

// free reports whether calls of an operation may be made up.
func (s *subject) free(op operation) bool {
	switch op.GetKind() {
	case toolv1.ToolKind_TOOL_KIND_DATA_SOURCE:
		return true
	case toolv1.ToolKind_TOOL_KIND_RESOURCE:
		return s.options.AllowMutations || slices.Contains(s.scenario.Operations(), op.GetName())
	default:
		return slices.Contains(s.scenario.Operations(), op.GetName())
	}
}

// good are arguments that fit an operation: the scenario's, or made-up ones.
func (l *life) good(op operation) (arguments *structpb.Struct, directory string) {
	for _, c := range l.place.situation.Calls {
		if c.Operation == op.GetName() && c.Expect == "result" && c.Cancel == nil {
			return c.Arguments, c.Directory
		}
	}
	return subset.Valid(op.GetInputSchema()), ""
}

// spoilt makes calls with one fault each: for an operation all previews first, so that the folder is looked at once.
func (l *life) spoilt() {
	for _, op := range l.subject.discovery().operations() {
		if !l.subject.free(op) || l.seen.err != nil {
			continue
		}
		good, directory := l.good(op)
		var tries []try
		changes := l.changesBy(func() {
			for _, wrong := range subset.Spoil(op.GetInputSchema(), good) {
				label := string(wrong.Fault) + " " + wrong.Argument
				tries = append(tries, try{spoilt: &wrong, preview: l.previewOf(op, label, l.call(op, wrong.Arguments, directory))})
				if l.survived("Preview of " + op.String() + " (" + label + ")"); l.seen.err != nil {
					return
				}
			}
		})
		for i, t := range tries {
			if i == 0 {
				t.changes = changes
			}
			label := string(t.spoilt.Fault) + " " + t.spoilt.Argument
			t.call = l.invoke(op, label, l.call(op, t.spoilt.Arguments, directory))
			l.seen.tries = append(l.seen.tries, t)
			if l.survived(t.call.String()); l.seen.err != nil {
				return
			}
		}
	}
}

// changesBy says what something did to the working folder.
func (l *life) changesBy(act func()) []string {
	work := l.place.work
	before, err := folder.Look(work)
	act()
	after, lookErr := folder.Look(work)
	if err != nil || lookErr != nil || work != l.place.work { // a new process has a new folder
		return nil
	}
	return before.Changes(after)
}

// try previews a call, makes it and renders its payload.
func (l *life) try(t *try, op operation, label string, arguments *structpb.Struct, directory string) transcript {
	t.changes = l.changesBy(func() { t.preview = l.previewOf(op, label, l.call(op, arguments, directory)) })
	if l.survived("Preview of " + op.String() + " (" + label + ")"); l.seen.err != nil {
		l.seen.tries = append(l.seen.tries, *t)
		return t.call
	}
	t.call = l.invoke(op, label, l.call(op, arguments, directory))
	if payload := t.call.result().GetPayload(); payload != nil {
		if text, err := protojson.Marshal(payload); err == nil {
			answer := l.renderOf(op.category, t.call.String(), text)
			t.rendered = &answer
		}
	}
	l.seen.tries = append(l.seen.tries, *t)
	l.survived(t.call.String())
	return t.call
}

func (l *life) previewOf(op operation, label string, call *toolv1.ToolCall) shown {
	ctx, cancel := l.subject.patient()
	defer cancel()
	began := time.Now()
	r, err := l.service(op.category).preview(ctx, call)
	return shown{label: "Preview of " + op.String() + " (" + label + ")", tree: r.GetPreview(), err: err, took: time.Since(began)}
}

func (l *life) renderOf(category commonv1.Category, label string, payload []byte) shown {
	ctx, cancel := l.subject.patient()
	defer cancel()
	began := time.Now()
	r, err := l.service(category).render(ctx, payload, "1")
	return shown{label: "Render of " + label, tree: r.GetTree(), err: err, took: time.Since(began)}
}

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

// transcripts are all calls of a session that were left to end, each with a label.
func (s session) transcripts() (out []transcript) {
	for _, t := range s.tries {
		out = append(out, t.call)
	}
	out = append(out, s.strangers...)
	for _, e := range s.extended {
		out = append(out, e.plain, e.extended)
	}
	return append(out, s.large...)
}

// shows are all previews and renderings.
func (s session) shows() (out []shown) {
	for _, t := range s.tries {
		out = append(out, t.preview)
		if t.rendered != nil {
			out = append(out, *t.rendered)
		}
	}
	return append(out, s.renders...)
}
