package conformance

import (
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/agentco/agent/conformance/internal/scenario"
	"github.com/agentco/agent/conformance/internal/subset"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// repeats is how often each call that only reads is made in a crowd.
const repeats = 3

// crowd is what calls came to alone, and side by side.
type crowd struct {
	err   error
	calls []inCrowd
}

// inCrowd is one call of a crowd.
type inCrowd struct {
	expected string
	alone    *toolv1.ToolResult // nil when it differs from call to call
	call     transcript
}

func (s *subject) callTogether() (out crowd) {
	r, err := s.configured(nil)
	if err != nil {
		return crowd{err: err}
	}
	defer r.end()
	planned := r.safe()
	for _, c := range planned {
		one := inCrowd{expected: c.Expect}
		if c.reading {
			first, second := r.invoke(c.op, c.Name, r.call(c.op, c.Arguments, c.Directory)), r.invoke(c.op, c.Name, r.call(c.op, c.Arguments, c.Directory))
			one.expected = first.ending()
			if proto.Equal(first.result(), second.result()) {
				one.alone = first.result()
			}
		}
		out.calls = append(out.calls, one)
		for range repeats - 1 {
			if c.reading {
				out.calls = append(out.calls, one)
			}
		}
	}
	var all sync.WaitGroup
	i := 0
	for _, c := range planned {
		times := 1
		if c.reading {
			times = repeats
		}
		for range times {
			at := i
			all.Go(func() {
				out.calls[at].call = r.invoke(c.op, c.Name+", side by side", r.call(c.op, c.Arguments, c.Directory))
			})
			i++
		}
	}
	all.Wait()
	return out
}

type safeCall struct {
	scenario.Call
	op      operation
	reading bool
}

// safe are calls that may run side by side: those of safe operations that only read, and what the scenario says.
func (r *running) safe() (out []safeCall) {
	const most = 12
	for _, c := range r.place.situation.Calls {
		op, ok := r.subject.discovery().find(c.Operation)
		reading := op.GetKind() == toolv1.ToolKind_TOOL_KIND_DATA_SOURCE && op.GetConcurrency().GetSafe()
		if ok && c.Cancel == nil && len(out) < most && (reading || c.Parallel) {
			out = append(out, safeCall{c, op, reading})
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, op := range r.subject.discovery().operations() {
		if op.GetKind() == toolv1.ToolKind_TOOL_KIND_DATA_SOURCE && op.GetConcurrency().GetSafe() {
			out = append(out, safeCall{scenario.Call{Name: "made up", Arguments: subset.Valid(op.GetInputSchema())}, op, true})
		}
	}
	return out
}
