package conformance

import (
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/conformance/internal/folder"
	"github.com/agentco/agent/conformance/internal/subset"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// repeated are calls of idempotent resources, each made twice.
type repeated struct {
	err   error
	calls []twice
}

type twice struct {
	second  transcript
	changes []string // what the second call did to the working folder; when it was written does not count
}

// callTwice makes the scenario's calls in their order, in a process of its own: what a call does twice may change what
// those after it find.
func (s *subject) callTwice() (out repeated) {
	r, err := s.configured(nil)
	if err != nil {
		return repeated{err: err}
	}
	defer r.end()
	results := map[string]*structpb.Struct{}
	for _, c := range r.place.situation.Calls {
		op, ok := s.discovery().find(c.Operation)
		resolved, err := c.Resolve(results)
		if !ok || c.Cancel != nil || err != nil {
			continue
		}
		first := r.invoke(op, c.Name, r.call(op, resolved.Arguments, c.Directory))
		results[c.Name] = first.result().GetPayload()
		if first.result() != nil && op.idempotent() {
			out.calls = append(out.calls, r.again(op, c.Name, resolved.Arguments, c.Directory))
		}
	}
	for _, op := range s.discovery().operations() {
		if !op.idempotent() || s.scenario.Has(op.GetName()) || !s.free(op) {
			continue
		}
		good := subset.Valid(op.GetInputSchema())
		if first := r.invoke(op, "made up", r.call(op, good, "")); first.result() != nil {
			out.calls = append(out.calls, r.again(op, "made up", good, ""))
		}
	}
	return out
}

// again makes a call for the second time.
func (r *running) again(op operation, name string, arguments *structpb.Struct, directory string) (t twice) {
	before, err := folder.Look(r.place.work)
	t.second = r.invoke(op, name+", again", r.call(op, arguments, directory))
	after, lookErr := folder.Look(r.place.work)
	if err == nil && lookErr == nil {
		t.changes = before.Timeless().Changes(after.Timeless())
	}
	return t
}

// idempotent reports a resource that is declared so. What only reads is idempotent whatever it says.
func (o operation) idempotent() bool {
	return o.GetKind() == toolv1.ToolKind_TOOL_KIND_RESOURCE && o.GetIdempotent()
}

func idempotentDeclared(s *subject) finding {
	c := s.repeated()
	if c.err != nil {
		return unusable(c.err)
	}
	var t tally
	for _, one := range c.calls {
		t.count++
		for _, change := range one.changes {
			t.add("by %s %s", one.second, change)
		}
	}
	return t.of("calls of idempotent resources, each made twice")
}
