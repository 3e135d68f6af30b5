package conformance

import (
	"strconv"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/agentco/agent/conformance/internal/scenario"
	"github.com/agentco/agent/conformance/internal/subset"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// repeats is how often each call that only reads is made in a crowd.
const repeats = 6

// crowd is what calls came to alone, and side by side.
type crowd struct {
	err   error
	calls []inCrowd
}

// inCrowd is one call of a crowd.
type inCrowd struct {
	safeCall
	expected string
	alone    *toolv1.ToolResult // nil when it differs from call to call
	call     transcript
}

// callTogether makes calls that only read, all at once, and then those that the scenario marks: what these change may be
// what the others read.
func (s *subject) callTogether() crowd {
	r, err := s.configured(nil)
	if err != nil {
		return crowd{err: err}
	}
	defer r.end()
	var reading, writing []inCrowd
	for _, c := range r.safe() {
		one := inCrowd{safeCall: c, expected: c.Expect}
		if !c.reading {
			writing = append(writing, one)
			continue
		}
		first, second := r.invoke(c.op, c.Name, r.call(c.op, c.Arguments, c.Directory)), r.invoke(c.op, c.Name, r.call(c.op, c.Arguments, c.Directory))
		one.expected = first.ending()
		if proto.Equal(first.result(), second.result()) {
			one.alone = first.result()
		}
		for range repeats {
			reading = append(reading, one)
		}
	}
	r.atOnce(reading)
	r.atOnce(writing)
	return crowd{calls: append(reading, writing...)}
}

// atOnce makes calls side by side and waits for all of them. Those with one key take turns, as a kernel has it.
func (r *running) atOnce(calls []inCrowd) {
	var all sync.WaitGroup
	together := make(chan struct{})
	turns := map[string]*sync.Mutex{}
	for i, c := range calls {
		key := c.key(i)
		if turns[key] == nil {
			turns[key] = &sync.Mutex{}
		}
		turn := turns[key]
		all.Go(func() {
			<-together
			turn.Lock()
			defer turn.Unlock()
			calls[i].call = r.invoke(c.op, c.Name+", side by side", r.call(c.op, c.Arguments, c.Directory))
		})
	}
	close(together)
	all.Wait()
}

// key is what the kernel keeps calls apart by: one of its own for each call of an operation without key fields.
func (c safeCall) key(i int) string {
	fields := c.op.GetConcurrency().GetKeyFields()
	if len(fields) == 0 {
		return strconv.Itoa(i)
	}
	key := c.op.String()
	for _, name := range fields {
		key += "\x00" + compact(c.Arguments.GetFields()[name])
	}
	return key
}

type safeCall struct {
	scenario.Call
	op      operation
	reading bool
}

// safe are calls that may run side by side: those of safe operations that only read, and what the scenario says.
func (r *running) safe() (out []safeCall) {
	const most = 8
	for _, c := range r.place.situation.Calls {
		op, ok := r.subject.discovery().find(c.Operation)
		reading := op.GetKind() == toolv1.ToolKind_TOOL_KIND_DATA_SOURCE
		if ok && c.Cancel == nil && !c.Late() && len(out) < most && op.GetConcurrency().GetSafe() && (reading || c.Parallel) {
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
