package suite

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/bench/internal/row"
	"github.com/agentco/agent/bench/internal/subject"
)

// recorded is a subject whose answer can be had, unless it fails.
type recorded struct {
	subject.Functions
	answer string
	fails  error
}

func (r *recorded) Record(_ context.Context, op string, b subject.Batch) (json.RawMessage, error) {
	return json.RawMessage(op + b.Vars["path"] + r.answer), r.fails
}

func TestRecordBeforeAnOperation(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.txt")
	require.NoError(t, os.WriteFile(file, []byte("one\ntwo\nthree\n"), 0o644))
	nothing := func(context.Context, subject.Vars, func([]byte)) (string, error) { return "", nil }
	has := map[string]subject.Function{"read4k": nothing, "edit4k": nothing}
	ops := map[string]*subject.Op{"read4k": {}, "edit4k": {}}
	from := &recorded{Functions: subject.Functions{Called: "from"}, answer: " answered"}
	s := &Suite{
		Vars: subject.Vars{"fx": dir, "answers": filepath.Join(dir, "answers")}, Scale: 1, Say: func(string) {}, rows: &row.Set{},
		Peers:    []*subject.Peer{{Name: "from", Ops: ops}, {Name: "as-from", Same: "from", Ops: ops}},
		subjects: []subject.Subject{from, &subject.Functions{Called: "as-from", Has: has}},
	}
	kept := func(name string) string {
		b, err := os.ReadFile(filepath.Join(s.Vars["answers"], name+".json"))
		require.NoError(t, err)
		return string(b)
	}
	require.NoError(t, s.forgetAnswers())
	s.operation(t.Context(), op{name: "read4k", n: 3, limit: time.Second, vars: subject.Vars{"path": "here"}})
	require.Equal(t, "read4khere answered", kept("read4k"))
	s.operation(t.Context(), op{name: "edit4k", n: 3, limit: time.Second, file: file})
	require.Equal(t, "edit4k"+filepath.Join(dir, "work", "from-a.txt")+" answered", kept("edit4k"), "of a file that it may change")
	s.operation(t.Context(), op{name: "crowd8", n: 3, limit: time.Second, vars: subject.Vars{"path": "there"}})
	require.Equal(t, "read4kthere answered", kept("read4k"))
	require.Len(t, s.rows.Rows, 3)
	for _, r := range s.rows.Rows {
		require.Equal(t, row.OK, r.Status, r.Note)
	}

	from.fails = errors.New("it is gone")
	s.operation(t.Context(), op{name: "read4k", n: 3, limit: time.Second})
	last := s.rows.Rows[3]
	require.Equal(t, row.Failed, last.Status)
	require.Contains(t, last.Note, "an answer of from cannot be recorded: it is gone")

	other := filepath.Join(s.Vars["answers"], "other.txt")
	require.NoError(t, os.WriteFile(other, nil, 0o644))
	require.NoError(t, s.forgetAnswers())
	require.NoFileExists(t, filepath.Join(s.Vars["answers"], "read4k.json"), "no answer of an earlier run is given")
	require.FileExists(t, other)
}
