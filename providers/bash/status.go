package main

import (
	"fmt"

	"github.com/agentco/agent/providers/bash/internal/background"
	"github.com/agentco/agent/sdk/render"
)

// status is how a background process fares, in every result about one.
type status struct {
	ID       string `json:"id" doc:"Id of the process."`
	State    string `json:"state" doc:"running; exited by itself; stopped on request; timed_out; killed by a signal from elsewhere; lost."`
	ExitCode *int   `json:"exit_code,omitempty" doc:"Exit code of the shell once it has ended; 128+n when it was ended by signal n."`
	Signal   string `json:"signal,omitempty" doc:"Signal that ended the shell, such as SIGTERM."`
}

func statusOf(p *background.Process) status {
	s := status{ID: p.ID, State: string(p.State())}
	if s.State == string(background.Running) || s.State == string(background.Lost) {
		return s
	}
	outcome, _ := p.Outcome()
	s.ExitCode, s.Signal = &outcome.Status.Code, outcome.Status.Signal
	return s
}

// String says it in a few words.
func (s status) String() string {
	switch state := background.State(s.State); {
	case state == background.Stopped && s.Signal != "":
		return "stopped by " + s.Signal
	case state == background.Killed:
		return "killed by " + s.Signal
	case state == background.Exited && s.ExitCode != nil:
		return fmt.Sprintf("exit code %d", *s.ExitCode)
	case state == background.TimedOut:
		return "stopped after timeout_ms"
	default:
		return s.State
	}
}

// style is how a person should take it.
func (s status) style() render.Style {
	switch state := background.State(s.State); {
	case state == background.Running, state == background.Stopped:
		return render.Normal
	case state == background.Exited && s.ExitCode != nil && *s.ExitCode == 0:
		return render.Success
	default:
		return render.Error
	}
}
