package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/host/hosttest"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func TestScope(t *testing.T) {
	all := open(t, Options{})
	s := all.Engine().Session(SessionOptions{
		Scope:      func(op Operation) bool { return op.Name == "echo" },
		OutOfScope: func(op Operation) string { return op.String() + " is for grown-ups" },
	})
	ops := s.Operations()
	require.Len(t, ops, 1)
	require.Equal(t, "fixture.echo", ops[0].String())

	var scope *ScopeError
	_, err := s.Lookup("fixture", "write")
	require.ErrorAs(t, err, &scope)
	require.EqualError(t, err, "fixture.write is for grown-ups")
	_, err = s.LookupCommand("/hello")
	require.ErrorAs(t, err, &scope)

	_, err = s.Lookup("fixture", "ecco")
	require.EqualError(t, err, `provider "fixture" has no tool "ecco": it has echo (did you mean "fixture.echo"?)`, "what is out of scope is not listed")
	_, err = s.LookupCommand("/helo")
	require.ErrorContains(t, err, "there is no command /helo")
	require.NotContains(t, err.Error(), "hello")

	// Whoever knows of an operation all the same gets no further.
	r := hosttest.NewRecorder()
	o := s.Invoke(t.Context(), request(t, all, "write", map[string]any{"path": "/x", "content": ""}), r.Show)
	require.Equal(t, Denied, o.Status)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED, o.Error.GetCategory())
	require.Contains(t, o.Error.GetMessage(), "fixture.write is for grown-ups")
	require.Empty(t, r.Names())
	_, problem := s.Explain(t.Context(), request(t, all, "write", map[string]any{"path": "/x", "content": ""}))
	require.Contains(t, problem.GetMessage(), "fixture.write is for grown-ups")
}
