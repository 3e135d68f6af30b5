package main

import (
	"io"
	"log/slog"
	"sync"

	"github.com/agentco/agent/providers/bash/internal/runner"
	"github.com/agentco/agent/providers/bash/internal/transcript"
	"github.com/agentco/agent/sdk"
)

// record passes output on as it comes and keeps what the result says about it.
type record struct {
	transcript *transcript.Transcript
	log        *slog.Logger

	mu       sync.Mutex // held while a piece is passed on
	sinks    [2]io.Writer
	detached bool
}

func newRecord(call *sdk.Call[config]) *record {
	return &record{
		transcript: transcript.New(call.Config.MaxResult, call.Config.outputs.create),
		log:        call.Log(),
		sinks:      [2]io.Writer{runner.Stdout: call.Stdout(), runner.Stderr: call.Stderr()},
	}
}

// deliver takes the next piece of output. It blocks while the kernel is slow to read.
func (r *record) deliver(stream runner.Stream, p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.transcript.Write(int(stream), p)
	if !r.detached {
		// It fails when the kernel is gone, and then the call is cancelled anyway.
		_, _ = r.sinks[stream].Write(p)
	}
}

// detach passes nothing on any more, and returns what was until now.
func (r *record) detach() transcript.View {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.detached = true
	return r.transcript.View()
}

// close returns what there is to say about a command that is over.
func (r *record) close(o runner.Outcome) result {
	defer r.transcript.Close()
	out := shown(r.transcript.View(), r.log)
	out.Summary = r.transcript.Summary(o.Status.Code, o.Status.Signal)
	out.DurationMS = o.Duration.Milliseconds()
	out.TimedOut = o.Reason == runner.TimedOut || o.Reason == runner.Idled
	out.ended(o)
	return out
}

// shown is output as a result has it.
func shown(v transcript.View, log *slog.Logger) result {
	if v.Err != nil {
		log.Warn("the whole output could not be kept", "error", v.Err.Error())
	}
	return result{Output: v.Text, OutputBytes: v.Total, OutputPath: v.Path}
}

func (r *result) ended(o runner.Outcome) {
	code := o.Status.Code
	r.ExitCode, r.Signal = &code, o.Status.Signal
}
