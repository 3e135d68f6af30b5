package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentco/agent/providers/bash/internal/background"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type outputArguments struct {
	ID     string `json:"id" doc:"Id of the process, as bash gave it in session_id."`
	Offset int64  `json:"offset,omitempty" doc:"Byte of the output to begin at. Default: 0, the beginning. Negative: so many bytes before the end."`
	WaitMS int    `json:"wait_ms,omitempty" min:"0" doc:"Milliseconds to wait for output after offset, or for the end of the process, when there is no such output yet. Default: 0; at most max_timeout_ms of the configuration."`
}

type outputResult struct {
	status
	Output      string `json:"output" doc:"What was printed from offset on, as much as one result carries."`
	Offset      int64  `json:"offset" doc:"Where output begins. It is later than asked for when what was there is not kept any more."`
	NextOffset  int64  `json:"next_offset" doc:"Offset for the next call. When it is less than output_bytes there is more already."`
	OutputBytes int64  `json:"output_bytes" doc:"How many bytes were printed so far."`
	OutputPath  string `json:"output_path,omitempty" doc:"File with the whole output (its first 512 MiB), when it is more than one result carries."`
	Summary     string `json:"summary,omitempty" doc:"One line about a process that has ended: what failed, or the last line that says anything."`
	DurationMS  int64  `json:"duration_ms" doc:"How long the process has run, in milliseconds."`
}

// processOutput returns output of a background process, and waits for it when asked to.
func processOutput(ctx context.Context, call *sdk.Call[config], in outputArguments) (outputResult, error) {
	p, offset, err := in.check(call)
	if err != nil {
		return outputResult{}, err
	}
	if in.WaitMS > 0 {
		call.Status("waiting for %s", in.ID)
		in.await(ctx, p, offset)
	}
	if err := ctx.Err(); err != nil {
		call.Report("nothing was taken: the same offset gives the same output again")
		return outputResult{}, err
	}
	// The state first: what ended before the output was read has printed all of it.
	out := outputResult{status: statusOf(p), DurationMS: p.Duration().Milliseconds()}
	piece, view := p.Output().Read(offset), p.Output().View()
	out.Output, out.Offset, out.NextOffset, out.OutputBytes = piece.Text, piece.Start, piece.Next, piece.Total
	out.OutputPath = view.Path
	if _, err := p.Outcome(); err != nil {
		out.Summary = "lost: " + err.Error()
	} else if out.ExitCode != nil {
		out.Summary = p.Output().Summary(*out.ExitCode, out.Signal)
	}
	return out, nil
}

func (in outputArguments) check(call *sdk.Call[config]) (p *background.Process, offset int64, err error) {
	if p, err = find(call, in.ID); err != nil {
		return nil, 0, err
	}
	if limit := call.Config.MaxTimeout; in.WaitMS > limit {
		return nil, 0, sdk.InvalidArgument("wait_ms", "%d is more than the configuration allows (max_timeout_ms is %d)", in.WaitMS, limit)
	}
	total := p.Output().Total()
	if in.Offset > total {
		return nil, 0, sdk.InvalidArgument("offset", "%d is beyond the %d bytes that %s has printed so far", in.Offset, total, in.ID)
	}
	if in.Offset < 0 {
		return p, max(0, total+in.Offset), nil
	}
	return p, in.Offset, nil
}

// await waits for output, and then for a pause in it.
func (in outputArguments) await(ctx context.Context, p *background.Process, offset int64) {
	ctx, cancel := context.WithTimeout(ctx, milliseconds(in.WaitMS))
	defer cancel()
	p.Output().Await(ctx, offset)
	awaitPause(ctx, p)
	if p.Output().Ended() {
		<-p.Done() // which follows at once
	}
}

func previewOutput(call *sdk.Call[config], in outputArguments) (sdk.Plan, error) {
	p, offset, err := in.check(call)
	if err != nil {
		return sdk.Plan{}, err
	}
	return sdk.Says("read what %s has printed, from byte %d on:", in.ID, offset).And(sdk.Runs(p.Command)), nil
}

func showOutput(out outputResult) render.Node {
	var nodes []render.Node
	if out.Output != "" {
		nodes = append(nodes, render.Code("", strings.TrimSuffix(out.Output, "\n")))
	}
	line := fmt.Sprintf("%s: %s, bytes %d to %d of %d", out.ID, out.status, out.Offset, out.NextOffset, out.OutputBytes)
	return render.Group(append(nodes, render.Styled(out.style(), line))...)
}
