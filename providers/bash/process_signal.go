package main

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentco/agent/providers/bash/internal/background"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

const (
	// endingWait is how long a call waits for the process to end of a signal that asks it to.
	endingWait = time.Second
	// otherWait is the same for a signal that is for something else.
	otherWait = 50 * time.Millisecond
)

type signalArguments struct {
	ID     string `json:"id" doc:"Id of the process, as bash gave it in session_id."`
	Signal string `json:"signal" default:"SIGTERM" doc:"Name or number of the signal. SIGTERM, which asks it to end, and SIGKILL, which ends it, go to everything the process has started; any other, such as SIGINT or SIGHUP, to its process group."`
}

type signalResult struct {
	status
	Sent string `json:"sent" doc:"The signal that was sent."`
}

// processSignal sends a signal to a background process, and waits a moment for what comes of it.
func processSignal(ctx context.Context, call *sdk.Call[config], in signalArguments) (signalResult, error) {
	p, signal, err := in.check(call)
	if err != nil {
		return signalResult{}, err
	}
	name := unix.SignalName(signal)
	if err := ctx.Err(); err != nil {
		call.Report("no signal was sent")
		return signalResult{}, err
	}
	p.Signal(signal)
	timer := time.NewTimer(waitFor(signal))
	defer timer.Stop()
	select {
	case <-p.Done():
	case <-timer.C:
	case <-ctx.Done():
		call.Report("%s had been sent", name)
		return signalResult{}, ctx.Err()
	}
	return signalResult{status: statusOf(p), Sent: name}, nil
}

func waitFor(s unix.Signal) time.Duration {
	switch s {
	case unix.SIGTERM, unix.SIGKILL, unix.SIGINT, unix.SIGQUIT, unix.SIGHUP, unix.SIGABRT:
		return endingWait
	default:
		return otherWait
	}
}

func (in signalArguments) check(call *sdk.Call[config]) (*background.Process, unix.Signal, error) {
	p, err := find(call, in.ID)
	if err != nil {
		return nil, 0, err
	}
	signal, err := signalCalled(in.Signal)
	if err != nil {
		return nil, 0, err
	}
	if p.State() != background.Running {
		return nil, 0, sdk.Failed("send %s to %s: it has ended (%s); there is nobody to signal", unix.SignalName(signal), in.ID, statusOf(p))
	}
	return p, signal, nil
}

func previewSignal(call *sdk.Call[config], in signalArguments) (sdk.Plan, error) {
	p, signal, err := in.check(call)
	if err != nil {
		return sdk.Plan{}, err
	}
	return sdk.Says("send %s to %s, which runs", unix.SignalName(signal), in.ID).And(sdk.Runs(p.Command)), nil
}

func showSignal(out signalResult) render.Node {
	return render.Styled(out.style(), out.ID+": "+out.Sent+" sent; "+out.String())
}
