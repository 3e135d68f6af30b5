package subject

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Record makes one call of an operation and gives its result in the very bytes that the server answered with.
func (s *server) Record(ctx context.Context, op string, b Batch) (json.RawMessage, error) {
	s.process.tape.start()
	b.N, b.Workers = 1, 1
	_, err := batch(ctx, s, s.peer.Ops[op], b)
	lines := s.process.tape.stop()
	if err != nil {
		return nil, err
	}
	return lastResult(lines)
}

// RecordTools starts a server of its own and gives its list of tools in the very bytes that it answered with.
func (p *Peer) RecordTools(ctx context.Context, vars Vars) (json.RawMessage, error) {
	s, err := dialMCP(ctx, p, vars)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	s.process.tape.start()
	_, err = s.tools(ctx)
	lines := s.process.tape.stop()
	if err != nil {
		return nil, err
	}
	return lastResult(lines)
}

// lastResult is the result of the last of the answers.
func lastResult(lines []byte) (result json.RawMessage, err error) {
	for line := range bytes.Lines(lines) {
		var message struct {
			ID, Result json.RawMessage
		}
		if err := json.Unmarshal(line, &message); err != nil {
			return nil, fmt.Errorf("what was recorded is no message: %w", err)
		}
		if message.ID != nil && message.Result != nil {
			result = message.Result
		}
	}
	if result == nil {
		return nil, fmt.Errorf("there is no answer in what was recorded: %s", Cut(string(lines), 200))
	}
	return result, nil
}

// tape keeps a copy of what is read through it, while it runs.
type tape struct {
	io.ReadCloser
	mu   sync.Mutex
	runs bool
	kept []byte
}

func (t *tape) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs {
		t.kept = append(t.kept, p[:n]...)
	}
	return n, err
}

func (t *tape) start() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs = true
}

func (t *tape) stop() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.kept
	t.runs, t.kept = false, nil
	return kept
}
