package sdk

import (
	"context"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/proto/codec"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
)

const (
	// rememberedEndings is how many calls are known to have ended.
	rememberedEndings = 64
	// rememberedPayloads is of how many of them the results are kept, and payloadBytes how large each may be.
	rememberedPayloads = 8
	payloadBytes       = 32 << 10
	// askedWithin is how long after the end of a call a kernel asks for it, with much to spare: it does at the cancellation,
	// and had not read the end by then.
	askedWithin = 10 * time.Second
)

// attempt is one of the times that a call is made. A kernel makes some again under the same id, and must not be told of the
// attempt before.
type attempt struct{ call, number string }

// attemptOf is the attempt that an RPC is about.
func attemptOf(rpc context.Context, call string) attempt {
	if number := metadata.ValueFromIncomingContext(rpc, plugin.AttemptHeader); len(number) == 1 {
		return attempt{call, number[0]}
	}
	return attempt{call: call}
}

// endings is what is known of the calls that run and of those that ended lately. A kernel that cancels a call while its end
// is on the way never sees that end, since gRPC drops it, and here the call was over and well: so the kernel asks.
type endings struct {
	mu        sync.Mutex
	running   map[attempt]chan struct{} // what waits for the report of one that was asked about; nil when it was not
	last      [rememberedEndings]ending
	next      int       // where in last the next one goes
	forgotten time.Time // when the youngest call ended that is not in last any more
}

// ending is how an attempt at a call ended.
type ending struct {
	attempt attempt
	session string
	at      time.Time
	note    string
	payload *structpb.Struct
	told    bool // the kernel has its report, or is getting it
}

// begin takes note that a call runs, until leave. It is not ok when it was cancelled before, and the kernel told that nothing
// was done.
func (e *endings) begin(rpc context.Context, a attempt) (ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if rpc.Err() != nil { // what is known of the call is looked for in few cases
		if known := e.find(a); known != nil && known.told {
			return false
		}
	}
	if e.running == nil {
		e.running = map[attempt]chan struct{}{}
	}
	e.running[a] = nil
	return true
}

// leave takes note that a call runs no more, and has been reported if it is to be.
func (e *endings) leave(a attempt) {
	e.mu.Lock()
	defer e.mu.Unlock()
	asked, runs := e.running[a]
	if runs && e.find(a) == nil { // it came to no end
		e.addLocked(ending{attempt: a, note: "cancelled; the provider has lost sight of it: what had already happened is not known"})
	}
	if asked != nil {
		close(asked)
	}
	delete(e.running, a)
}

// end takes note of how a call ended. It has to be reported, before leave, when it was cancelled by then, and when the kernel
// has asked about it already.
func (e *endings) end(ctx context.Context, how ending) (report bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	how.told = ctx.Err() != nil || e.running[how.attempt] != nil
	if !how.told {
		delete(e.running, how.attempt)
	}
	e.addLocked(how)
	return how.told
}

func (e *endings) addLocked(new ending) {
	new.at = time.Now()
	if old := e.last[e.next]; !old.at.IsZero() {
		e.forgotten = old.at
	}
	e.last[e.next] = new
	e.last[(e.next+rememberedEndings-rememberedPayloads)%rememberedEndings].payload = nil
	e.next = (e.next + 1) % rememberedEndings
}

// ask gives what is to be reported of a cancelled call: nothing when that is done, or will be by the call itself, which is
// then waited for.
func (e *endings) ask(a attempt) (report ending, ok bool, reported <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if asked, runs := e.running[a]; runs {
		if asked == nil {
			asked = make(chan struct{})
			e.running[a] = asked
		}
		return ending{}, false, asked
	}
	if known := e.find(a); known != nil {
		report, ok = *known, !known.told
		known.told = true
		return report, ok, nil
	}
	report = ending{attempt: a, note: "cancelled before it reached the provider; nothing was done", told: true}
	if !e.forgotten.IsZero() && time.Since(e.forgotten) < askedWithin {
		report.note = "cancelled; the provider never got it, or has ended it and forgotten it: what had already happened is not known"
	}
	e.addLocked(report)
	return report, true, nil
}

// find is the last ending of an attempt; nil when there is none.
func (e *endings) find(a attempt) *ending {
	for i := range rememberedEndings {
		if known := &e.last[(e.next+2*rememberedEndings-1-i)%rememberedEndings]; known.attempt == a && a.call != "" {
			return known
		}
	}
	return nil
}

// concluded is how the end of a call is remembered. The note of a result is a constant: most calls are never asked about. What
// must not be sent goes before anything is cut, which could leave a part of it.
func (f *frame) concluded(a attempt, out outcome) ending {
	how := ending{attempt: a, session: f.call.GetCallContext().GetSessionId(), note: completedFirst}
	switch {
	case out.err != nil:
		note, _ := f.events.conclusion(out)
		note = f.server.secrets.Text(note)
		how.note = strings.ToValidUTF8(note[:min(len(note), payloadBytes)], "")
	case atMost(out.payload) > payloadBytes:
		how.note = completedFirst + "; its result is too large to be sent once more"
	default:
		how.payload = out.payload
	}
	return how
}

// describe says who the provider is, and when the kernel asks about a call that it has cancelled, has that reported before.
func (s *server) describe(rpc context.Context, category commonv1.Category) *commonv1.ProducerRef {
	if asked := metadata.ValueFromIncomingContext(rpc, plugin.ReportHeader); len(asked) == 1 && asked[0] != "" {
		s.answer(rpc, attemptOf(rpc, asked[0]))
	}
	return s.producer(category)
}

// answer returns when there is nothing more to be reported of a call, or nobody waits for it.
func (s *server) answer(rpc context.Context, a attempt) {
	report, ok, reported := s.endings.ask(a)
	switch {
	case ok:
		s.reportLate(rpc, report)
	case reported != nil:
		select {
		case <-reported:
		case <-rpc.Done():
		}
	}
}

// reportLate hands over what the kernel did not get to see of a call.
func (s *server) reportLate(rpc context.Context, e ending) {
	ctx, end, ok := s.life.begin(context.WithoutCancel(rpc))
	if !ok {
		return // the kernel sees the process end
	}
	defer end()
	payload, _ := codec.Opened(e.payload) // it was encoded here
	call := &toolv1.ToolCall{Id: e.attempt.call, CallContext: &commonv1.CallContext{SessionId: e.session}}
	if err := s.tell(ctx, call, e.note, payload, nil); err != nil {
		s.callbacks.logger(e.session, s.name).Warn("the kernel did not take the report of a call that it had asked about",
			"call", e.attempt.call, "error", err.Error())
	}
}
