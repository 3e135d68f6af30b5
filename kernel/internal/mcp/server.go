package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/paint"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options is what a server needs.
type Options struct {
	// Engine has the providers.
	Engine *engine.Engine
	// Open begins an engine.Session for a client, with that approver. end ends it, after its last call; the error is nil
	// when the client has left of its own accord.
	Open func(approver gate.Approver) (session *engine.Session, end func(error), err error)
	// Operations are those that clients see. It is called again when there may be others. Default: all of the engine's.
	Operations func() []engine.Operation
	// OutOfScope says why clients do not see an operation of the engine's. Default: just that they do not.
	OutOfScope func(engine.Operation) string
	// Version is that of the kernel.
	Version string
	// Approve are names of operations that run without being asked about, as in "filesystem.*" or "/release". A policy's
	// deny still stands.
	Approve []string
	// ApproveAll says in whose name everything is approved, such as "--yes"; empty: it is not.
	ApproveAll string
	// Patience is how long a person may take to answer. Default: five minutes.
	Patience time.Duration
	// RootsPatience is how long a client may take to name its roots. Default: ten seconds.
	RootsPatience time.Duration
	// MostCalls is how many calls may run at a time, of all clients together; half of them of one client, where there may be
	// several. Default: 128.
	MostCalls int
	// Log receives what goes wrong. Default: nothing is logged.
	Log *slog.Logger
}

const (
	defaultPatience      = 5 * time.Minute
	defaultRootsPatience = 10 * time.Second
	defaultMostCalls     = 128
)

// The error codes of our own, in the range that JSON-RPC leaves to servers.
const (
	codeFailed = -32000
	codeBusy   = -32005
)

// Server serves any number of clients. Its methods may be called from many goroutines.
type Server struct {
	options  Options
	approver gate.Approver
	sdk      *sdk.Server
	places   *places
	posts    posts
	told     chan struct{} // closed when a client has been told of the tools
	telling  sync.Once

	opening       sync.Mutex // held while a conversation begins
	mu            sync.Mutex // guards what follows
	offered       []engine.Operation
	tools         map[string]engine.Operation
	described     []*sdk.Tool // as clients are told of them, by name
	commands      map[string]engine.Operation
	conversations map[*sdk.ServerSession]*conversation
	parcels       map[*sdk.ServerSession]*parcels // of the transports that take them
	closed        bool
	ends          sync.WaitGroup // of the conversations
}

// New returns a server that has no clients yet. It must be closed, before the engine.
func New(o Options) *Server {
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	if o.RootsPatience == 0 {
		o.RootsPatience = defaultRootsPatience
	}
	if o.MostCalls == 0 {
		o.MostCalls = defaultMostCalls
	}
	if o.Operations == nil {
		o.Operations = o.Engine.Operations
	}
	if o.OutOfScope == nil {
		o.OutOfScope = func(op engine.Operation) string { return op.String() + " is not offered here" }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		options: o, places: &places{most: o.MostCalls, of: map[*sdk.ServerSession]int{}},
		told: make(chan struct{}), approver: &approver{patterns: o.Approve, patience: o.Patience},
		tools: map[string]engine.Operation{}, commands: map[string]engine.Operation{},
		conversations: map[*sdk.ServerSession]*conversation{}, parcels: map[*sdk.ServerSession]*parcels{},
	}
	if o.ApproveAll != "" {
		s.approver = gate.ApproveAll(o.ApproveAll)
	}
	s.sdk = sdk.NewServer(s.implementation(), &sdk.ServerOptions{
		Instructions:      instructions,
		CompletionHandler: s.complete, RootsListChangedHandler: s.rootsChanged, //nolint:staticcheck // deprecated in the newest version only
		Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{ListChanged: true}, Prompts: &sdk.PromptCapabilities{ListChanged: true},
			Completions: &sdk.CompletionCapabilities{},
			Logging:     &sdk.LoggingCapabilities{}, //nolint:staticcheck // deprecated in the newest version only
		},
	})
	s.sdk.AddReceivingMiddleware(unanswered, s.recovered, greeted, levelled, s.listed, s.called)
	s.Refresh()
	return s
}

// implementation is this server, as clients are told of it.
func (s *Server) implementation() *sdk.Implementation {
	return &sdk.Implementation{Name: "agent", Title: "agent", Version: s.options.Version}
}

const instructions = `Tools work on the project that this server was started in; relative paths begin there. ` +
	`A tool that changes something shows a person what it would do and asks first, unless a policy of the project decides. ` +
	`An error says what kind it is, what happened and what to do next.`

// Refresh offers what operations there are now. Clients are told when they are not those of before.
func (s *Server) Refresh() {
	ops := s.options.Operations()
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Equal(ops, s.offered) { // as nearly always
		return
	}
	s.offered = ops
	var tools, commands []engine.Operation
	for _, op := range ops {
		if op.IsCommand() {
			commands = append(commands, op)
		} else {
			tools = append(tools, op)
		}
	}
	s.offerTools(names(tools))
	before, now := s.commands, commandNames(commands)
	s.commands = now
	for name, op := range now {
		if old, was := before[name]; !was || !reflect.DeepEqual(prompt(name, old), prompt(name, op)) {
			s.sdk.AddPrompt(prompt(name, op), s.getPromptByName)
		}
	}
	s.sdk.RemovePrompts(missing(before, now)...)
}

// anyTool is the one tool that the SDK knows of: it would read the schema of each at every start, and check nothing by it. Its
// list gets the descriptions of ours, and all calls go to it. Of ours none has such a name, which names no provider.
const anyTool = "any"

// offerTools makes the list of tools.
func (s *Server) offerTools(now map[string]engine.Operation) {
	described := make([]*sdk.Tool, 0, len(now))
	for _, name := range slices.Sorted(maps.Keys(now)) {
		described = append(described, tool(name, now[name]))
	}
	if s.described == nil || !reflect.DeepEqual(s.described, described) {
		// As this type the SDK takes a schema as it is. It tells clients of the change.
		s.sdk.AddTool(&sdk.Tool{Name: anyTool, InputSchema: &jsonschema.Schema{Type: "object"}}, s.callTool)
	}
	s.tools, s.described = now, described
}

// describe puts the tools into a list that the SDK has made for a client.
func (s *Server) describe(list *sdk.ListToolsResult, ss *sdk.ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	large := s.parcels[ss]
	list.Tools = make([]*sdk.Tool, len(s.described))
	for i, t := range s.described {
		list.Tools[i] = large.tool(t)
	}
}

func missing(before, now map[string]engine.Operation) []string {
	var gone []string
	for name := range before {
		if _, still := now[name]; !still {
			gone = append(gone, name)
		}
	}
	return gone
}

func (s *Server) tool(name string) (engine.Operation, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	op, ok := s.tools[name]
	return op, ok
}

func (s *Server) command(name string) (engine.Operation, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	op, ok := s.commands[name]
	return op, ok
}

// callTool is the handler of all tools.
func (s *Server) callTool(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	op := ctx.Value(calledKey{}).(engine.Operation) // called lets nothing else through
	args, err := decoded(r.Params.Arguments)
	if err != nil {
		return nil, invalid(err)
	}
	q := s.request(r.Session, r.ClientCapabilities(), r.ClientInfo(), r.ProtocolVersion())
	q.Operation, q.Arguments = op, args
	q.state, q.answers, q.token = r.Params.RequestState, r.Params.InputResponses, r.Params.GetProgressToken()
	reply, err := s.serve(ctx, q)
	if err != nil {
		return nil, err
	}
	if reply.questions != nil {
		nothing := []sdk.Content{} // which nil would write as null
		return &sdk.CallToolResult{Content: nothing, InputRequests: reply.questions, RequestState: reply.state}, nil
	}
	return result(op, reply.ending, s.large(r.Session)), nil
}

func (s *Server) getPromptByName(ctx context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	op, ok := s.command(r.Params.Name)
	if !ok {
		return nil, invalid(fmt.Errorf("there is no prompt %s any more", paint.Line(r.Params.Name)))
	}
	return s.getPrompt(ctx, r, op)
}

func invalid(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
}

// multiRound is the first protocol version in which questions go to the client between two requests.
const multiRound = "2026-07-28"

// request begins a request with what is known of its client.
func (s *Server) request(ss *sdk.ServerSession, can *sdk.ClientCapabilities, who *sdk.Implementation, version string) request {
	r := request{session: ss, client: "a client without a name", again: version >= multiRound, rooted: hasRoots(can)}
	r.Render = true
	if who != nil && who.Name != "" {
		r.client = paint.Line(who.Name)
	}
	if can != nil && can.Elicitation != nil {
		r.asks = can.Elicitation.Form != nil || can.Elicitation.URL == nil // neither means forms, as it was at first
	}
	return r
}

// serve makes a call in the conversation of its client.
func (s *Server) serve(ctx context.Context, r request) (reply, error) {
	if err := s.places.take(r.session); err != nil {
		return reply{}, err
	}
	defer s.places.leave(r.session)
	c, err := s.conversation(r.session)
	if err != nil { // such as a log that cannot be written
		return reply{ending: unserved(r.Operation, err)}, nil
	}
	answer, err := c.serve(ctx, r)
	if err == nil && answer.questions == nil {
		s.tell(ctx, r.session, answer.ending)
		s.Refresh()
	}
	return answer, err
}

// errClosing is a cancellation, as whoever keeps the session should see it.
var errClosing = fmt.Errorf("%w: the server is shutting down", context.Canceled)

// conversation is that of a client, begun when it makes its first call. It ends with the client's session. To begin one can
// take a while, as its log is made: the other clients do not wait for that.
func (s *Server) conversation(ss *sdk.ServerSession) (*conversation, error) {
	if c, err := s.begun(ss); c != nil || err != nil {
		return c, err
	}
	s.opening.Lock()
	defer s.opening.Unlock()
	if c, err := s.begun(ss); c != nil || err != nil { // by another call of the client
		return c, err
	}
	session, end, err := s.options.Open(s.approver)
	if err != nil {
		return nil, err
	}
	c := &conversation{
		session: session, end: end, roots: newRoots(s.options.Log), patience: s.options.RootsPatience,
		waiting: map[string]*call{}, over: make(chan struct{}),
	}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		end(errClosing)
		return nil, errClosing
	}
	s.conversations[ss] = c
	s.ends.Go(func() { s.attend(ss, c) })
	return c, nil
}

// begun is the conversation of a client; nil when it has none yet.
func (s *Server) begun(ss *sdk.ServerSession) (*conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.conversations[ss]
	if c == nil && s.closed {
		return nil, errClosing
	}
	return c, nil
}

// attend waits for the end of a conversation, and sees to it.
func (s *Server) attend(ss *sdk.ServerSession, c *conversation) {
	over := ended(ss)
	select { // the SDK's session can outlast the conversation: it waits for what it is writing
	case <-c.ctx.Done():
	case <-over:
	}
	c.close(errGone)
	go func() {
		<-over
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conversations, ss)
	}()
}

func ended(ss *sdk.ServerSession) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = ss.Wait()
	}()
	return over
}

// large is where the large pieces of results for a client go; nil when its transport takes none.
func (s *Server) large(ss *sdk.ServerSession) *parcels {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parcels[ss]
}

// leave cancels what a client has running, so that its session can end. over is closed when all of it has.
func (s *Server) leave(ss *sdk.ServerSession, cause error) (over <-chan struct{}) {
	s.mu.Lock()
	c := s.conversations[ss]
	s.mu.Unlock()
	if c == nil {
		return nothingLeft
	}
	c.cancel(cause)
	return c.over
}

var nothingLeft = func() chan struct{} {
	closed := make(chan struct{})
	close(closed)
	return closed
}()

// cancel ends all calls, and lets no session make more.
func (s *Server) cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, c := range s.conversations {
		c.cancel(errClosing)
	}
}

// Close ends all sessions: calls are cancelled, and have the time that their providers need for it.
func (s *Server) Close() {
	s.cancel()
	for ss := range s.sdk.Sessions() {
		_ = ss.Close()
	}
	s.ends.Wait()
}

// newestGreeting is the last version of the protocol that begins with a greeting of its own.
const newestGreeting = "2025-11-25"

// greeted holds a client that asks for a version that is still to come to the one that it is answered with: the SDK goes by
// what was asked for, and would not ask questions in the way of that version.
func greeted(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if p, ok := r.GetParams().(*sdk.InitializeParams); ok && p != nil && p.ProtocolVersion >= multiRound {
			p.ProtocolVersion = newestGreeting
		}
		return next(ctx, method, r)
	}
}

// Told is closed when the first client has been told of the tools: what else there is to do at a start can wait for that.
func (s *Server) Told() <-chan struct{} { return s.told }

// afterTelling is how long the answer to a list has to be written.
const afterTelling = 10 * time.Millisecond

// listed completes the list of tools, and notes that a client has asked for it.
func (s *Server) listed(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, r)
		if list, ok := result.(*sdk.ListToolsResult); ok && err == nil {
			s.describe(list, r.GetSession().(*sdk.ServerSession))
			s.telling.Do(func() { time.AfterFunc(afterTelling, func() { close(s.told) }) })
		}
		return result, err
	}
}

// calledKey is the key of the operation that a call is of, among what its context holds.
type calledKey struct{}

// called sends the calls of all tools to the one that the SDK knows of.
func (s *Server) called(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		call, ok := r.(*sdk.CallToolRequest)
		if !ok || call.Params == nil {
			return next(ctx, method, r)
		}
		op, there := s.tool(call.Params.Name)
		if !there {
			return nil, s.unknown(call.Params.Name)
		}
		params := *call.Params
		params.Name = anyTool
		other := *call
		other.Params = &params
		return next(context.WithValue(ctx, calledKey{}, op), method, &other)
	}
}

// recovered keeps a fault of ours from ending the process, and with it the calls of everybody else.
func (s *Server) recovered(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (result sdk.Result, err error) {
		defer func() {
			if fault := recover(); fault != nil {
				result, err = s.fault(method, fault)
			}
		}()
		return next(ctx, method, r)
	}
}
