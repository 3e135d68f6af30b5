package main

import (
	"io"
	"log/slog"

	"github.com/agentco/agent/providers/bash/internal/capture"
	"github.com/agentco/agent/providers/bash/internal/runner"
	"github.com/agentco/agent/providers/bash/internal/summary"
	"github.com/agentco/agent/sdk"
)

// record passes output on as it comes and keeps what the result says about it.
type record struct {
	sinks   [2]io.Writer
	output  *capture.Output
	scanner summary.Scanner
	log     *slog.Logger
}

func newRecord(call *sdk.Call[config]) *record {
	return &record{
		sinks:  [2]io.Writer{runner.Stdout: call.Stdout(), runner.Stderr: call.Stderr()},
		output: capture.New(call.Config.MaxResult, call.Config.outputs.create),
		log:    call.Log(),
	}
}

// deliver takes the next piece of output. It blocks while the kernel is slow to read.
func (r *record) deliver(stream runner.Stream, p []byte) {
	_, _ = r.output.Write(p)
	r.scanner.Write(int(stream), p)
	// It fails when the kernel is gone, and then the call is cancelled anyway.
	_, _ = r.sinks[stream].Write(p)
}

// result says what there is to say about a command that is over.
func (r *record) result(o runner.Outcome) result {
	path, err := r.output.Close()
	if err != nil {
		r.log.Warn("the whole output could not be kept", "error", err.Error())
	}
	return result{
		ExitCode: o.Status.Code, Signal: o.Status.Signal,
		Summary: r.scanner.Line(o.Status.Code, o.Status.Signal),
		Output:  r.output.Text(), OutputBytes: r.output.Total(), OutputPath: path,
		DurationMS: o.Duration.Milliseconds(),
		TimedOut:   o.Reason == runner.TimedOut || o.Reason == runner.Idled,
	}
}
