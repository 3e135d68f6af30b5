package engine

import toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"

// ScopeError says that an operation is there, but not for this session.
type ScopeError struct {
	Operation Operation
	text      string
}

// Error says why, and what would take the operation in.
func (e *ScopeError) Error() string { return e.text }

// Operations lists the tools and commands of the session, ordered by provider and name, tools first.
func (s *Session) Operations() []Operation {
	var ops []Operation
	for _, op := range s.engine.Operations() {
		if s.sees(op) == nil {
			ops = append(ops, op)
		}
	}
	return ops
}

// Lookup finds a tool. The error is a *LookupError, or a *ScopeError.
func (s *Session) Lookup(provider, tool string) (Operation, error) {
	op, err := s.engine.Lookup(provider, tool)
	if err != nil {
		return s.engine.lookup(s.Operations(), provider, tool)
	}
	return op, s.sees(op)
}

// LookupCommand finds a slash command by its name, as Engine.LookupCommand does. The error is a *LookupError, or a
// *ScopeError.
func (s *Session) LookupCommand(name string) (Operation, error) {
	if op, err := lookupCommand(s.Operations(), name); err == nil {
		return op, nil
	}
	op, err := s.engine.LookupCommand(name)
	if err != nil {
		return lookupCommand(s.Operations(), name)
	}
	return op, s.sees(op)
}

// sees is nil for an operation that is there for this session, else a *ScopeError.
func (s *Session) sees(op Operation) error {
	if s.scope == nil || s.scope(op) {
		return nil
	}
	text := op.String() + " is not in scope of this session"
	if s.outOfScope != nil {
		text = s.outOfScope(op)
	}
	return &ScopeError{op, text}
}

// refuse ends a call that is not even put to the gate.
func (c *call) refuse(err *toolv1.ToolError) {
	if err.GetCategory() == toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED {
		c.fail(Denied, err)
		return
	}
	c.fail(Failed, err)
}
