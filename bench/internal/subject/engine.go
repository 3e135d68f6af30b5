package subject

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Engine is the kernel's engine in a process of its own, kernel/internal/enginebench, which keeps the time itself.
type Engine struct {
	peer    *Peer
	vars    Vars
	process *process

	mu    sync.Mutex
	next  int
	waits map[int]chan Reply
}

// Reply is a line of enginebench.
type Reply struct {
	ID      int             `json:"id"`
	TookMS  []float64       `json:"took_ms"`
	FirstMS []float64       `json:"first_ms"`
	Output  int             `json:"output"`
	Result  json.RawMessage `json:"result"`
	Session string          `json:"session"`
	CPUMS   float64         `json:"cpu_ms"`
	Error   string          `json:"error"`
}

func dialEngine(p *Peer, vars Vars) (*Engine, error) {
	x, err := start(p, vars)
	if err != nil {
		return nil, err
	}
	e := &Engine{peer: p, vars: vars, process: x, waits: map[int]chan Reply{}}
	go e.read()
	return e, nil
}

func (e *Engine) read() {
	lines := bufio.NewScanner(e.process.out)
	lines.Buffer(nil, 256<<20)
	for lines.Scan() {
		var r Reply
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			continue
		}
		e.mu.Lock()
		wait := e.waits[r.ID]
		delete(e.waits, r.ID)
		e.mu.Unlock()
		if wait != nil {
			wait <- r
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, wait := range e.waits {
		wait <- Reply{Error: "enginebench ended: " + e.process.stderr.String()}
	}
	e.waits = nil
}

// Name is that of the peer.
func (e *Engine) Name() string { return e.peer.Name }

// PID is the process with the engine in it.
func (e *Engine) PID() int { return e.process.cmd.Process.Pid }

// Can reports whether the engine is asked for an operation.
func (e *Engine) Can(op string) bool { return e.peer.Ops[op] != nil }

// Ended reports whether it has ended by itself.
func (e *Engine) Ended() bool { return e.process.hasEnded() }

// Close ends it.
func (e *Engine) Close() { e.process.close() }

// Batch has the engine carry out a batch, in its own time. Only the last step is timed.
func (e *Engine) Batch(ctx context.Context, op string, b Batch) (Samples, error) {
	o := e.peer.Ops[op]
	for _, s := range o.Before {
		if _, err := e.Ask(ctx, map[string]any{"operation": s.Tool, "arguments": b.Vars.Repetition(b.From).PutIn(s.Args)}); err != nil {
			return Samples{}, fmt.Errorf("before it: %w", err)
		}
	}
	if len(o.Between) > 0 {
		return e.oneByOne(ctx, o, b)
	}
	return e.ask(ctx, &o.Steps[0], b)
}

// oneByOne asks for each repetition by itself, with the steps that come between.
func (e *Engine) oneByOne(ctx context.Context, o *Op, b Batch) (all Samples, err error) {
	shell, begun := &commandLine{e.peer, e.vars}, time.Now()
	for i := range max(1, b.N) {
		if i > 0 && b.Limit > 0 && time.Since(begun) > b.Limit {
			break
		}
		for j := range o.Between {
			if _, err := shell.call(ctx, &o.Between[j], b.Vars, nil); err != nil {
				return all, fmt.Errorf("between: %w", err)
			}
		}
		got, err := e.ask(ctx, &o.Steps[0], Batch{N: 1, From: b.From + i, Vars: b.Vars})
		if err != nil {
			return all, err
		}
		all.Took, all.First = append(all.Took, got.Took...), append(all.First, got.First...)
		all.Output, all.Text = got.Output, got.Text
	}
	return all, nil
}

// ask has the engine make the calls of a batch.
func (e *Engine) ask(ctx context.Context, s *Step, b Batch) (Samples, error) {
	r, err := e.Ask(ctx, map[string]any{
		"operation": s.Tool, "arguments": b.Vars.PutIn(s.Args), "dir": b.Vars.Put(s.Dir),
		"n": b.N, "workers": b.Workers, "from": b.From, "limit_ms": b.Limit.Milliseconds(),
	})
	return Samples{Took: r.TookMS, First: r.FirstMS, Output: r.Output, Text: payloadText(r.Result), CPU: r.CPUMS}, err
}

// payloadText is the file or output in a payload, else the payload as it is.
func payloadText(payload json.RawMessage) string {
	var p struct{ Content, Output string }
	if json.Unmarshal(payload, &p) == nil && p.Content+p.Output != "" {
		return p.Content + p.Output
	}
	return string(payload)
}

// Ask sends a request and waits for its reply. The end of ctx cancels it.
func (e *Engine) Ask(ctx context.Context, request map[string]any) (Reply, error) {
	wait := make(chan Reply, 1)
	e.mu.Lock()
	if e.waits == nil {
		e.mu.Unlock()
		return Reply{}, errors.New("enginebench has ended: " + e.process.stderr.String())
	}
	e.next++
	id := e.next
	e.waits[id] = wait
	e.mu.Unlock()
	request["id"] = id
	if err := e.send(request); err != nil {
		return Reply{}, err
	}
	var r Reply
	select {
	case r = <-wait:
	case <-ctx.Done():
		if err := e.send(map[string]any{"cancel": id}); err != nil {
			return Reply{}, err
		}
		select {
		case r = <-wait:
		case <-time.After(20 * time.Second):
			return Reply{}, errors.New("enginebench does not answer")
		}
	}
	if r.Error != "" {
		return r, errors.New(r.Error)
	}
	return r, nil
}

func (e *Engine) send(message map[string]any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	_, err = e.process.in.Write(append(line, '\n'))
	return err
}
