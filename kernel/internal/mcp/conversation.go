package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/policy"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// conversation is one session of the protocol: an engine.Session, and the calls that wait for their client to come back
// with an answer.
type conversation struct {
	session *engine.Session
	// end ends what was opened for the session, its log among it.
	end func(error)
	// roots are where the calls of the client have to stay, which it has patience to say.
	roots    *roots
	patience time.Duration

	ctx    context.Context // done when the client is gone
	cancel context.CancelCauseFunc
	calls  sync.WaitGroup
	over   chan struct{} // closed when nothing of it is left

	mu      sync.Mutex       // guards waiting, and that no call begins once ctx is done
	waiting map[string]*call // by what the client has to give back

	cut atomic.Bool // a call was cancelled as the conversation ended
}

// mostWaiting is how many calls of a client may wait for answers at a time.
const mostWaiting = 32

var (
	errGone    = errors.New("the client is gone")
	errTooMany = errors.New("too many calls of this client wait for an approval already")
)

// request is what a client asks for, in a tool call or a prompt.
type request struct {
	engine.Request
	session *sdk.ServerSession
	client  string
	// asks says that the client can ask a person, rooted that it has roots; again, that it answers between two requests.
	asks, rooted, again bool
	// state and answers come with a request that is made again.
	state   string
	answers sdk.InputResponseMap
	token   any
}

// reply is what a request comes to: an outcome, or questions with the state that the client has to give back.
type reply struct {
	ending    ending
	questions sdk.InputRequestMap
	state     string
}

// serve makes a call, or goes on with one that has waited for an answer. Its error is one of the protocol.
func (c *conversation) serve(ctx context.Context, r request) (reply, error) {
	if r.rooted && r.again && r.state == "" {
		var ask bool
		if r.Within, ask = c.roots.answered(r.answers); ask {
			return reply{questions: questionForRoots()}, nil
		}
	}
	k, err := c.begin(ctx, r)
	if err != nil {
		return reply{}, err
	}
	stop := context.AfterFunc(ctx, func() { k.cancel(reason(ctx)) })
	defer stop()
	p := watch(r.token, func(n *sdk.ProgressNotificationParams) { _ = r.session.NotifyProgress(ctx, n) })
	defer p.stop()
	k.shown.Store(p)
	if r.state != "" {
		k.answers <- response(r.answers)
	} else if err := c.start(k); err != nil {
		return reply{}, err
	}
	select {
	case end := <-k.done:
		return reply{ending: end}, nil
	case question := <-k.questions:
		k.shown.Store(nil)
		state, err := c.wait(k)
		return reply{questions: sdk.InputRequestMap{approval: question}, state: state}, err
	}
}

// reason is why a request has ended: its client has gone, or wanted it to.
func reason(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), io.EOF) {
		return errGone
	}
	return errors.New("the client cancelled it")
}

// begin finds the call of a request that is made again, or prepares a new one. What the context holds has to last as long
// as the call, its end not.
func (c *conversation) begin(ctx context.Context, r request) (*call, error) {
	if r.state != "" {
		return c.resume(r)
	}
	k := &call{request: r.Request, client: r.client, done: make(chan ending, 1), printed: tail{most: longestTail}}
	switch {
	case r.asks && r.again:
		k.asker = rounds{k}
		k.questions, k.answers = make(chan *sdk.ElicitParams), make(chan *sdk.ElicitResult, 1)
	case r.asks:
		k.asker = elicitation{r.session}
	}
	if r.rooted && !r.again {
		k.within = func(ctx context.Context) *policy.Fence { return c.rootsOf(ctx, r.session) }
	}
	k.ctx, k.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	k.unbind = context.AfterFunc(c.ctx, func() { k.cancel(context.Cause(c.ctx)) })
	return k, nil
}

func (c *conversation) start(k *call) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the session has ended: " + context.Cause(c.ctx).Error()}
	}
	c.calls.Go(func() {
		if k.run(c.session) == engine.Cancelled && c.ctx.Err() != nil {
			c.cut.Store(true)
		}
	})
	return nil
}

// wait keeps a call until its client comes back, or nobody has answered in time.
func (c *conversation) wait(k *call) (state string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for state, other := range c.waiting {
		if len(other.done) > 0 { // the time for an answer is over
			delete(c.waiting, state)
		}
	}
	if len(c.waiting) >= mostWaiting {
		k.cancel(errTooMany)
		return "", &jsonrpc.Error{Code: codeBusy, Message: errTooMany.Error()}
	}
	state = rand.Text()
	c.waiting[state] = k
	return state, nil
}

// resume takes a call that waits. A state is good for one answer, from the client that was asked, about the call that it
// was asked about.
func (c *conversation) resume(r request) (*call, error) {
	c.mu.Lock()
	k := c.waiting[r.state]
	delete(c.waiting, r.state)
	c.mu.Unlock()
	switch {
	case k == nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState stands for no question that is open: make the call again without it"}
	case !k.same(r.Request):
		k.cancel(errors.New("the client came back with another call than the one it was asked about"))
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the call is another than the one that was asked about: make it again without requestState"}
	}
	return k, nil
}

// approval is the key of the one question that a request is answered with.
const approval = "approval"

// response is the answer in a request that was made again; one that is missing is no answer.
func response(answers sdk.InputResponseMap) *sdk.ElicitResult {
	if r, ok := answers[approval].(*sdk.ElicitResult); ok && r != nil {
		return r
	}
	return &sdk.ElicitResult{Action: "cancel"}
}

// close cancels what still runs, waits for its end, and ends the session: in order, unless that cancelled a call whose
// client was still there.
func (c *conversation) close(cause error) {
	c.mu.Lock()
	c.cancel(cause)
	c.mu.Unlock()
	c.calls.Wait()
	if cause = context.Cause(c.ctx); errors.Is(cause, errGone) || !c.cut.Load() {
		cause = nil
	}
	c.end(cause)
	close(c.over)
}
