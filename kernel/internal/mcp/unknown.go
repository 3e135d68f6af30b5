package mcp

import (
	"fmt"
	"maps"
	"slices"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/schema"
)

// unknown is the error about a name that no tool has, with what was meant by it, or why that is not offered.
func (s *Server) unknown(name string) error {
	s.mu.Lock()
	offered := s.tools
	s.mu.Unlock()
	var all []engine.Operation
	for _, op := range s.options.Engine.Operations() {
		if !op.IsCommand() {
			all = append(all, op)
		}
	}
	text := fmt.Sprintf("unknown tool %q", name)
	for known, op := range names(all) {
		switch _, here := offered[known]; {
		case here && (name == op.String() || name == op.Name):
			return invalid(fmt.Errorf("%s (did you mean %q?)", text, known))
		case !here && (name == known || name == op.String()):
			return invalid(fmt.Errorf("%s: %s", text, s.options.OutOfScope(op)))
		}
	}
	return invalid(fmt.Errorf("%s%s", text, schema.Hint(name, slices.Sorted(maps.Keys(offered)))))
}
