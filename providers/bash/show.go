package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentco/agent/providers/bash/internal/summary"
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
	place := "in " + dir.Name()
	if how := in.duration(call.Config); how != "" {
		place += ", " + how
	}
	return plan.And(sdk.Says("%s", place)), nil
}

// duration says how long the command may run, as far as its arguments say so: beside the
// default there is the deadline of the call, which may be shorter and is not known here.
func (in arguments) duration(c *config) string {
	limit := milliseconds(in.timeout(c))
	switch {
	case in.Background && limit == 0:
		return "in the background, without a limit"
	case in.Background:
		return fmt.Sprintf("in the background, for at most %v", limit)
	case in.OnTimeout == onTimeoutBackground:
		return fmt.Sprintf("for %v, and then on in the background", limit)
	case in.TimeoutMS > 0:
		return fmt.Sprintf("for at most %v", limit)
	default:
		return ""
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

// verdict is how a command ended, and what is to say about it beyond what it printed.
func verdict(out result) render.Node {
	took := (time.Duration(out.DurationMS) * time.Millisecond).String()
	switch {
	case strings.HasPrefix(out.Summary, goesOn): // which whoever has called agent for this alone may not expect
		return render.Styled(render.Normal, fmt.Sprintf("%s after %s; it ends with this session of agent", out.Summary, took))
	case out.ExitCode == nil:
		return render.Styled(render.Normal, fmt.Sprintf("%s after %s", out.Summary, took))
	case out.Signal != "":
		return render.Styled(render.Error, fmt.Sprintf("killed by %s after %s", out.Signal, took)+size(out))
	case *out.ExitCode != 0:
		return render.Styled(render.Error, fmt.Sprintf("exit code %d after %s", *out.ExitCode, took)+remark(out))
	default:
		return render.Styled(render.Success, "done in "+took+remark(out))
	}
}

// remark is the summary, unless it stands above: then it is how much that is. Of a failure
// the line that says why is worth a repetition, when it is not the last.
func remark(out result) string {
	seen := out.Output
	if *out.ExitCode != 0 {
		text := strings.TrimRight(seen, "\n")
		seen = text[strings.LastIndexByte(text, '\n')+1:]
	}
	if strings.TrimSpace(out.Output) == "" || summary.IsLine(seen, out.Summary) {
		return size(out)
	}
	return ": " + out.Summary
}

// size says how much was printed, unless the line about the file does.
func size(out result) string {
	count := strings.Count(strings.TrimSuffix(out.Output, "\n"), "\n") + 1
	switch {
	case out.OutputPath != "":
		return ""
	case out.OutputBytes == 0:
		return ", no output"
	case int64(len(out.Output)) < out.OutputBytes: // only its ends are there
		return fmt.Sprintf(", %d bytes", out.OutputBytes)
	case count == 1:
		return ", 1 line"
	default:
		return fmt.Sprintf(", %d lines", count)
	}
}
