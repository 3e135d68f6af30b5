package conformance

import (
	"errors"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

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
	wrote      []string // what the call of a data source did to it
	rendered   *shown   // nil when there was no payload
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

// live has a life more when the first had to be killed in the end: the machine may have been busy.
func (s *subject) live() session {
	first := s.liveOnce()
	if first.err != nil || !first.end.killed || s.ctx.Err() != nil {
		return first
	}
	if again := s.liveOnce(); again.err == nil && !again.end.killed {
		first.end = again.end
	}
	return first
}

func (s *subject) liveOnce() session {
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
			l.end()
			return l.seen
		}
	}
	l.seen.logged = append(l.seen.logged, l.Callbacks.Logged()...)
	l.seen.end = l.shutDown()
	l.seen.printed += l.Printed()
	return l.seen
}

// survived notes a death and starts the provider anew. It reports whether there was none.
func (l *life) survived(what string) bool {
	if l.seen.err == nil {
		l.seen.err = l.subject.ctx.Err()
	}
	if l.seen.err != nil {
		return false
	}
	if !l.dead() {
		return true
	}
	l.seen.deaths = append(l.seen.deaths, what)
	l.seen.logged = append(l.seen.logged, l.Callbacks.Logged()...)
	l.end()
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
			case <-time.After(moment):
				return false
			case <-r.subject.ctx.Done():
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
		if l.subject.scenario.Has(op.GetName()) || !l.subject.free(op) || l.seen.err != nil {
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
		return s.options.AllowMutations || s.scenario.Has(op.GetName())
	default:
		return s.scenario.Has(op.GetName())
	}
}

// uncalled names the operations that nothing called, and says what would let them be.
func (s *subject) uncalled() (out []string) {
	if s.start().err != nil {
		return nil
	}
	for _, op := range s.discovery().operations() {
		switch {
		case s.free(op) || s.scenario.Has(op.GetName()):
		case op.GetKind() == toolv1.ToolKind_TOOL_KIND_RESOURCE:
			out = append(out, op.String()+" was not called: it changes something; --allow-mutations or a scenario lets it be called")
		default:
			out = append(out, op.String()+" was not called: it asks a person; a scenario lets it be called")
		}
	}
	return out
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
	act := func() { t.call = l.invoke(op, label, l.call(op, arguments, directory)) }
	if op.GetKind() == toolv1.ToolKind_TOOL_KIND_DATA_SOURCE {
		t.wrote = l.changesBy(act)
	} else {
		act()
	}
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
	return quicker(func() shown { return l.previewOnce(op, label, call) })
}

// quicker asks once more when an answer is late, since the machine may be busy, and takes the quicker one.
func quicker(ask func() shown) shown {
	first := ask()
	if first.took <= showTime || (first.err != nil && !late(first.err)) {
		return first
	}
	if again := ask(); again.took < first.took {
		return again
	}
	return first
}

func (l *life) previewOnce(op operation, label string, call *toolv1.ToolCall) shown {
	ctx, cancel := l.subject.patient()
	defer cancel()
	began := time.Now()
	r, err := l.service(op.category).preview(ctx, call)
	took := time.Since(began)
	label = "Preview of " + op.String() + " (" + label + ")"
	return shown{label: label, tree: r.GetPreview(), err: l.mortal(err, label), took: took}
}

func (l *life) renderOf(category commonv1.Category, label string, payload []byte) shown {
	return quicker(func() shown { return l.renderOnce(category, label, payload) })
}

func (l *life) renderOnce(category commonv1.Category, label string, payload []byte) shown {
	ctx, cancel := l.subject.patient()
	defer cancel()
	began := time.Now()
	r, err := l.service(category).render(ctx, payload, "1")
	took := time.Since(began)
	label = "Render of " + label
	return shown{label: label, tree: r.GetTree(), err: l.mortal(err, label), took: took}
}

// lethal reports whether the process ended in a call of one of the operations. Another life in which they are called need
// not say so too.
func (s session) lethal(ops ...operation) bool {
	return slices.ContainsFunc(s.transcripts(), func(t transcript) bool {
		same := func(op operation) bool {
			return t.operation.category == op.category && t.operation.GetName() == op.GetName()
		}
		return t.died != "" && slices.ContainsFunc(ops, same)
	})
}

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
