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
	// Kind is mcp, http, cli or engine.
	Kind    string   `json:"kind"`
	Command []string `json:"command"`
	// Dir is where it is started. Default: among the inputs.
	Dir string            `json:"dir"`
	Env map[string]string `json:"env"`
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
	// Steps are timed together.
	Steps []Step `json:"steps"`
	// Count is a pattern whose matches in the answer are the things that came back.
	Count string `json:"count"`
	// N caps the repetitions.
	N    int    `json:"n"`
	Note string `json:"note"`
}

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
		seen[p.Name] = true
		for name, op := range p.Ops {
			if _, err := regexp.Compile(op.Count); err != nil {
				return nil, fmt.Errorf("peers.json: %s of %s: %w", name, p.Name, err)
			}
		}
	}
	return peers, nil
}

func (s *Step) pause() time.Duration { return time.Duration(s.Pause) * time.Millisecond }
