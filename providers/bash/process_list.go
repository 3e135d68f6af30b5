package main

import (
	"context"
	"time"

	"github.com/agentco/agent/providers/bash/internal/background"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type listArguments struct{}

type listResult struct {
	Processes []listed `json:"processes" doc:"The oldest first. Of those that have ended the last sixteen are known."`
}

type listed struct {
	status
	Command     string `json:"command" doc:"What was run."`
	Description string `json:"description,omitempty" doc:"What it is for, as it was said when it was started."`
	Cwd         string `json:"cwd" doc:"Directory it was started in."`
	PID         int    `json:"pid" doc:"Process id of its shell."`
	StartedAt   string `json:"started_at" doc:"When it was started, RFC 3339."`
	DurationMS  int64  `json:"duration_ms" doc:"How long it has run, in milliseconds."`
	OutputBytes int64  `json:"output_bytes" doc:"How many bytes it has printed."`
}

// processList says which processes of the session there are in the background.
func processList(_ context.Context, call *sdk.Call[config], _ listArguments) (listResult, error) {
	out := listResult{Processes: []listed{}}
	for _, p := range call.Config.background.List(call.SessionID) {
		out.Processes = append(out.Processes, describe(p))
	}
	return out, nil
}

func describe(p *background.Process) listed {
	return listed{
		status:  statusOf(p),
		Command: p.Command, Description: p.Description, Cwd: p.Dir, PID: p.PID(),
		StartedAt:   p.Started.UTC().Format(time.RFC3339),
		DurationMS:  p.Duration().Milliseconds(),
		OutputBytes: p.Output().Total(),
	}
}

func previewList(*sdk.Call[config], listArguments) (sdk.Plan, error) {
	return sdk.Says("list the processes in the background"), nil
}

func showList(out listResult) render.Node {
	if len(out.Processes) == 0 {
		return render.Styled(render.Dim, "no process in the background")
	}
	var rows [][]string
	for _, p := range out.Processes {
		took := milliseconds(int(p.DurationMS)).Round(time.Second).String()
		rows = append(rows, []string{p.ID, p.String(), took, p.Command})
	}
	return render.Table([]string{"id", "state", "time", "command"}, rows...)
}
