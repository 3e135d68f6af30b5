package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/agentco/agent/providers/bash/internal/background"
	"github.com/agentco/agent/providers/bash/internal/runner"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type inputArguments struct {
	ID   string `json:"id" doc:"Id of the process, as bash gave it in session_id."`
	Data string `json:"data" doc:"What to type, exactly: nothing is added. \"\\n\" ends a line (Enter is \"\\r\" for programs that read keys), \"\\u0003\" is Ctrl-C, \"\\u0004\" Ctrl-D, \"\\u001b\" Esc, \"\\u001b[A\" the up arrow."`
}

type inputResult struct {
	ID         string `json:"id" doc:"Id of the process."`
	TypedBytes int    `json:"typed_bytes" doc:"How many bytes were typed."`
	NextOffset int64  `json:"next_offset" doc:"Offset at which process_output shows what was printed since."`
}

// processInput types at the terminal of a background process.
func processInput(ctx context.Context, call *sdk.Call[config], in inputArguments) (inputResult, error) {
	p, err := in.check(call)
	if err != nil {
		return inputResult{}, err
	}
	if err := ctx.Err(); err != nil {
		call.Report("nothing was typed")
		return inputResult{}, err
	}
	out := inputResult{ID: in.ID, NextOffset: p.Output().Total()}
	if out.TypedBytes, err = p.Type([]byte(in.Data)); err != nil {
		return inputResult{}, in.refused(out.TypedBytes, err)
	}
	if err := ctx.Err(); err != nil {
		call.Report("all %d bytes had been typed", out.TypedBytes)
		return inputResult{}, err
	}
	return out, nil
}

func (in inputArguments) check(call *sdk.Call[config]) (*background.Process, error) {
	if in.Data == "" {
		return nil, sdk.InvalidArgument("data", `it is empty; give what to type, such as "yes\n"`)
	}
	return find(call, in.ID)
}

// refused explains input that was not taken, or not all of it.
func (in inputArguments) refused(typed int, err error) error {
	switch {
	case errors.Is(err, runner.ErrLine):
		return sdk.InvalidArgument("data", "%w, and the rest would be lost; send shorter lines, or write a file that the process reads", err)
	case errors.Is(err, runner.ErrNoInput):
		return sdk.Failed("type at %s: %w; only what was started with background = true has one, and with pty = true in the configuration", in.ID, err)
	case errors.Is(err, runner.ErrUnread):
		return sdk.Failed("type at %s: %w; of %d bytes %d were typed, the rest was not", in.ID, err, len(in.Data), typed).With("typed_bytes", typed)
	default:
		return sdk.Failed("type at %s: %w; process_output says how it ended", in.ID, err).With("typed_bytes", typed)
	}
}

func previewInput(call *sdk.Call[config], in inputArguments) (sdk.Plan, error) {
	p, err := in.check(call)
	if err != nil {
		return sdk.Plan{}, err
	}
	return sdk.Says("type at %s:", in.ID).And(sdk.Shows(render.Code("", strconv.Quote(in.Data)))).
		And(sdk.Says("which runs")).And(sdk.Runs(p.Command)), nil
}

func showInput(out inputResult) render.Node {
	return render.Text(fmt.Sprintf("%s: %d bytes typed", out.ID, out.TypedBytes))
}
