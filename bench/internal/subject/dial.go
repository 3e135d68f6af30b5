package subject

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Missing says why a peer cannot be run here; empty when it can.
func (p *Peer) Missing(vars Vars) string {
	if needs := vars.Put(p.Needs); needs != "" {
		if _, err := os.Stat(needs); err != nil {
			return "it is not installed"
		}
	}
	if p.Kind != "cli" {
		return ""
	}
	for _, op := range p.Ops {
		for _, s := range op.Steps {
			if _, err := exec.LookPath(vars.Put(s.Argv[0])); err != nil {
				return s.Argv[0] + " is not on this machine"
			}
		}
	}
	return ""
}

// Dial starts a peer.
func (p *Peer) Dial(ctx context.Context, vars Vars) (Subject, error) {
	switch p.Kind {
	case "mcp", "http":
		return dialMCP(ctx, p, vars)
	case "rpc":
		return dialRPC(ctx, p, vars)
	case "cli":
		return &commandLine{p, vars}, nil
	case "engine", "log":
		return dialEngine(p, vars)
	}
	return nil, fmt.Errorf("peers.json: %s is of kind %q: mcp, http, rpc, cli, engine and log are known", p.Name, p.Kind)
}

// Cold starts a server of its own, asks for its tools, and ends it: the milliseconds to the answer, and how many there are.
// One that has no list of tools is asked for what it is ready with.
func (p *Peer) Cold(ctx context.Context, vars Vars) (took float64, tools int, err error) {
	begun := time.Now()
	if p.Kind == "rpc" {
		s, err := dialRPC(ctx, p, vars)
		if err != nil {
			return 0, 0, err
		}
		defer s.Close()
		return Milliseconds(time.Since(begun)), 0, nil
	}
	s, err := dialMCP(ctx, p, vars)
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	tools, err = s.tools(ctx)
	return Milliseconds(time.Since(begun)), tools, err
}
