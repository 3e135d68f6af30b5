package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

// preview shows the command line and where it would run. It opens the directory, as the
// call would, and nothing else.
func preview(call *sdk.Call[config], in arguments) (sdk.Plan, error) {
	if err := check(call.Config, in); err != nil {
		return sdk.Plan{}, err
	}
	dir, err := openDirectory(call, in)
	if err != nil {
		return sdk.Plan{}, err
	}
	defer func() { _ = dir.Close() }()
	var plan sdk.Plan
	if in.Description != "" {
		plan = sdk.Says("%s", in.Description)
	}
	plan = plan.And(sdk.Runs(in.Command))
	if in.Stdin != "" {
		plan = plan.And(sdk.Says("with this on its standard input:")).And(sdk.Shows(render.Code("", in.Stdin)))
	}
	return plan.And(sdk.Says("in %s, %s", dir.Name(), in.duration(call.Config))), nil
}

// duration says how long the command may run.
func (in arguments) duration(c *config) string {
	limit := milliseconds(in.timeout(c))
	switch {
	case in.Background && limit == 0:
		return "in the background, without a limit"
	case in.Background:
		return fmt.Sprintf("in the background, for at most %v", limit)
	case in.OnTimeout == onTimeoutBackground:
		return fmt.Sprintf("for %v, and then on in the background", limit)
	default:
		return fmt.Sprintf("for at most %v", limit)
	}
}

// show is a result as scrollback: what was printed, and below it how it ended.
func show(out result) render.Node {
	var nodes []render.Node
	if out.Output != "" {
		nodes = append(nodes, render.Code("", strings.TrimSuffix(out.Output, "\n")))
	}
	if out.OutputPath != "" {
		nodes = append(nodes, render.Styled(render.Dim, fmt.Sprintf("all %d bytes: %s", out.OutputBytes, out.OutputPath)))
	}
	return render.Group(append(nodes, verdict(out))...)
}

// verdict is how a command ended, and what is to say about it beyond its last line.
func verdict(out result) render.Node {
	took := (time.Duration(out.DurationMS) * time.Millisecond).String()
	switch {
	case out.ExitCode == nil:
		return render.Styled(render.Normal, fmt.Sprintf("%s after %s", out.Summary, took))
	case out.Signal != "":
		return render.Styled(render.Error, fmt.Sprintf("%s after %s", out.Summary, took))
	case *out.ExitCode != 0:
		return render.Styled(render.Error, fmt.Sprintf("exit code %d after %s", *out.ExitCode, took)+remark(out))
	default:
		return render.Styled(render.Success, "done in "+took+remark(out))
	}
}

// remark is the summary, unless it is the line that stands right above.
func remark(out result) string {
	text := strings.TrimRight(out.Output, "\n")
	switch last := text[strings.LastIndexByte(text, '\n')+1:]; {
	case text == "":
		return ", no output"
	case strings.TrimSpace(last) == strings.TrimSpace(out.Summary):
		return ""
	default:
		return ": " + out.Summary
	}
}
