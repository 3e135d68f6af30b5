package subject

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// rpc is a server that speaks JSON-RPC in lines which is not MCP. What it answers is decoded in the time that counts, as the
// SDK's client does it for the servers of MCP.
type rpc struct {
	peer    *Peer
	process *process

	mu    sync.Mutex
	next  int
	waits map[int]chan *message
	sinks map[string]func(string) // by call
}

// message is a line of the protocol, in both directions.
type message struct {
	Version string          `json:"jsonrpc,omitempty"`
	ID      *int            `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// dialRPC starts a server, and is done when it answers.
func dialRPC(ctx context.Context, p *Peer, vars Vars) (*rpc, error) {
	x, err := start(p, vars)
	if err != nil {
		return nil, err
	}
	r := &rpc{peer: p, process: x, next: 100, waits: map[int]chan *message{}, sinks: map[string]func(string){}}
	go r.read()
	for _, m := range p.Protocol.Handshake {
		if err = r.greet(ctx, m); err != nil {
			break
		}
	}
	if err == nil {
		_, err = r.call(ctx, &p.Protocol.Ready, vars, nil)
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%w; it says: %s", err, x.stderr.String())
	}
	return r, nil
}

// greet sends a message of the handshake, and waits for the answer when there is to be one.
func (r *rpc) greet(ctx context.Context, m map[string]any) error {
	id, ok := m["id"].(float64)
	if !ok {
		return r.send(m)
	}
	_, err := r.ask(ctx, int(id), m)
	return err
}

func (r *rpc) read() {
	lines := bufio.NewReaderSize(r.process.out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		m := &message{}
		if json.Unmarshal(line, m) != nil {
			continue
		}
		switch {
		case m.Method == "" && m.ID != nil:
			r.mu.Lock()
			wait := r.waits[*m.ID]
			delete(r.waits, *m.ID)
			r.mu.Unlock()
			if wait != nil {
				wait <- m
			}
		case m.Method == r.peer.Protocol.Output:
			r.printed(m.Params)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, wait := range r.waits {
		close(wait)
	}
	r.waits = nil
}

// printed gives output to the call that it is of.
func (r *rpc) printed(params json.RawMessage) {
	var fields map[string]any
	if json.Unmarshal(params, &fields) != nil {
		return
	}
	call, _ := fields[r.peer.Protocol.Call].(string)
	text, _ := fields[r.peer.Protocol.Base64].(string)
	r.mu.Lock()
	sink := r.sinks[call]
	r.mu.Unlock()
	if b, err := base64.StdEncoding.DecodeString(text); err == nil && sink != nil {
		sink(string(b))
	}
}

// Name is that of the peer.
func (r *rpc) Name() string       { return r.peer.Name }
func (r *rpc) PID() int           { return r.process.cmd.Process.Pid }
func (r *rpc) Can(op string) bool { return r.peer.Ops[op] != nil }
func (r *rpc) Ended() bool        { return r.process.hasEnded() }
func (r *rpc) Close()             { r.process.close() }

func (r *rpc) Batch(ctx context.Context, op string, b Batch) (Samples, error) {
	in, out := r.process.wireIn.Load(), r.process.wireOut.Load()
	samples, err := batch(ctx, r, r.peer.Ops[op], b)
	samples.WireIn, samples.WireOut = int(r.process.wireIn.Load()-in), int(r.process.wireOut.Load()-out)
	return samples, err
}

func (r *rpc) call(ctx context.Context, s *Step, vars Vars, out func(string)) (func() string, error) {
	if out != nil {
		r.mu.Lock()
		r.sinks[vars["call"]] = out
		r.mu.Unlock()
		defer func() {
			r.mu.Lock()
			delete(r.sinks, vars["call"])
			r.mu.Unlock()
		}()
	}
	r.mu.Lock()
	r.next++
	id := r.next
	r.mu.Unlock()
	params, err := json.Marshal(vars.PutIn(s.Args))
	if err != nil {
		return nil, err
	}
	result, err := r.ask(ctx, id, message{Version: r.peer.Protocol.Version, ID: &id, Method: s.Tool, Params: params})
	if err != nil || s.Base64 == "" {
		return func() string { return string(result) }, err
	}
	var fields map[string][]byte // encoding/json decodes base64 into them
	if err := json.Unmarshal(result, &fields); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Tool, err)
	}
	return func() string { return string(fields[s.Base64]) }, nil
}

// ask sends a request and waits for its answer.
func (r *rpc) ask(ctx context.Context, id int, request any) (json.RawMessage, error) {
	wait := make(chan *message, 1)
	r.mu.Lock()
	ended := r.waits == nil
	if !ended {
		r.waits[id] = wait
	}
	r.mu.Unlock()
	if ended {
		return nil, errors.New("the server has ended")
	}
	if err := r.send(request); err != nil {
		return nil, err
	}
	select {
	case m, ok := <-wait:
		switch {
		case !ok:
			return nil, errors.New("the server has ended")
		case m.Error != nil:
			return nil, errors.New(Cut(m.Error.Message, 300))
		}
		return m.Result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *rpc) send(m any) error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = r.process.in.Write(append(line, '\n'))
	return err
}
