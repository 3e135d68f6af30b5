package engine

import (
	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/policy"
	"github.com/agentco/agent/kernel/internal/schedule"
	"github.com/oklog/ulid/v2"
)

// Session is one conversation with the providers: its calls carry its id, are kept in its journal, and share what was
// granted for the session. Its methods may be called from many goroutines. It needs no end: the Engine has one.
type Session struct {
	engine     *Engine
	id         string
	workingDir string
	scope      func(Operation) bool
	outOfScope func(Operation) string
	journal    Journal
	gate       *gate.Gate
	breaker    schedule.Breaker
}

// SessionOptions is what makes a session another than the next one. All of it may be left out.
type SessionOptions struct {
	// ID is what providers and the log know the session by. Default: a new ULID.
	ID string
	// Approver is asked about changes that no policy decides. Nil: nobody can answer, so they are denied.
	Approver gate.Approver
	// Journal keeps what happens. Nil: nothing is kept.
	Journal Journal
	// WorkingDir is what relative paths in arguments resolve against; absolute. Default: that of the Engine.
	WorkingDir string
	// Scope says which operations there are in this session. Nil: all of the engine's.
	Scope func(Operation) bool
	// OutOfScope is what is said of an operation that Scope leaves out: why, and what would take it in. It may be nil.
	OutOfScope func(Operation) string
}

// Session begins a conversation.
func (e *Engine) Session(o SessionOptions) *Session {
	s := &Session{engine: e, id: o.ID, workingDir: o.WorkingDir, scope: o.Scope, outOfScope: o.OutOfScope, journal: o.Journal}
	if s.id == "" {
		s.id = ulid.Make().String()
	}
	if s.workingDir == "" {
		s.workingDir = e.workingDir
	}
	if s.journal == nil {
		s.journal = noJournal{}
	}
	s.gate = &gate.Gate{
		Policy: e.rules, Approver: o.Approver, Preview: s.previewOf, Check: s.checkRevised, Log: e.log,
		Place: policy.Place{Root: e.root, Dir: s.workingDir, Deciding: policy.NewGuard(deciding(e.root)...)},
	}
	return s
}

// ID is what all calls of the session carry.
func (s *Session) ID() string { return s.id }

// Engine is what the session runs on.
func (s *Session) Engine() *Engine { return s.engine }
