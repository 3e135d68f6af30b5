package subject

import (
	"encoding/json"
	"fmt"
	"regexp"
	"time"
)

// Peer is an entry of peers.json: how a subject is started and what it calls the operations.
type Peer struct {
	Name  string `json:"name"`
	About string `json:"about"`
	// Kind is mcp, http, rpc, cli, engine, or log for an engine of which there is only that.
	Kind string `json:"kind"`
	// Same is the peer above it whose answers this one gives: one of each operation is recorded, in ${answers}.
	Same    string   `json:"same"`
	Command []string `json:"command"`
	// Dir is where it is started. Default: among the inputs.
	Dir string            `json:"dir"`
	Env map[string]string `json:"env"`
	// Package is the npm package that the peer comes from, and Module the Go one, each with its version.
	Package string `json:"package"`
	Module  string `json:"module"`
	// Protocol is what a peer of the kind rpc speaks.
	Protocol *Protocol `json:"protocol"`
	// Needs is a file without which the peer is skipped.
	Needs string `json:"needs"`
	// Quick takes the peer into quick runs.
	Quick bool `json:"quick"`
	// DropNoise leaves out lines of its stdout that are no JSON.
	DropNoise bool           `json:"drop_noise"`
	Ops       map[string]*Op `json:"ops"`
}

// Op is how a peer does an operation.
type Op struct {
	// Before are untimed steps of each batch, such as the reading that a tool wants before it changes a file.
	Before []Step `json:"before"`
	// Between are untimed steps of each repetition, before it: they put back what the one before changed.
	Between []Step `json:"between"`
	// Steps are timed together.
	Steps []Step `json:"steps"`
	// Cancel is the peer's own way to end what the steps began. Default: that of its protocol.
	Cancel *Step `json:"cancel"`
	// Count is a pattern whose matches in the answer are the things that came back.
	Count string `json:"count"`
	// N caps the repetitions.
	N int `json:"n"`
	// Note says in the report what the row is about.
	Note string `json:"note"`
}

// Replays reports whether the peer changes nothing, whatever an operation is about.
func (p *Peer) Replays() bool { return p.Same != "" || p.Kind == "log" }

// Step is one call: of a tool, an operation of the engine, or a command line.
type Step struct {
	Tool string   `json:"tool"`
	Args any      `json:"args"`
	Argv []string `json:"argv"`
	Dir  string   `json:"dir"`
	// Capture takes variables out of the answer: a pattern with one group for each.
	Capture map[string]string `json:"capture"`
	// Until repeats the step until its answer matches, with a pause between.
	Until string `json:"until"`
	Pause int    `json:"pause_ms"`
	// Base64 is the field of an answer of the kind rpc that holds its text so.
	Base64 string `json:"base64"`
}

// Protocol is JSON-RPC in lines, as it is spoken before MCP is.
type Protocol struct {
	// Handshake are the messages that begin it. Those with an id are waited for.
	Handshake []map[string]any `json:"handshake"`
	// Ready is called after it: the server is up when it answers.
	Ready Step `json:"ready"`
	// Version is what each message says of JSON-RPC; empty for nothing.
	Version string `json:"version"`
	// Output is the notification of what a command prints, Call its field that names the call, as ${call} in arguments does,
	// and Base64 the one with the bytes.
	Output string `json:"output"`
	Call   string `json:"call"`
	Base64 string `json:"base64"`
}

// ReadTable reads peers.json.
func ReadTable(b []byte) ([]*Peer, error) {
	var peers []*Peer
	if err := json.Unmarshal(b, &peers); err != nil {
		return nil, fmt.Errorf("peers.json: %w", err)
	}
	seen := map[string]bool{}
	for _, p := range peers {
		if seen[p.Name] {
			return nil, fmt.Errorf("peers.json: there are two peers %s", p.Name)
		}
		if p.Same != "" && !seen[p.Same] {
			return nil, fmt.Errorf("peers.json: %s answers as %q does, which is no peer above it", p.Name, p.Same)
		}
		seen[p.Name] = true
		if (p.Kind == "rpc") != (p.Protocol != nil) {
			return nil, fmt.Errorf("peers.json: %s: the kind rpc has a protocol, and no other has", p.Name)
		}
		for name, op := range p.Ops {
			if _, err := regexp.Compile(op.Count); err != nil {
				return nil, fmt.Errorf("peers.json: %s of %s: %w", name, p.Name, err)
			}
		}
	}
	return peers, nil
}

func (s *Step) pause() time.Duration { return time.Duration(s.Pause) * time.Millisecond }
