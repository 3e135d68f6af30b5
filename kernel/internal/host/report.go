package host

import (
	"context"
	"encoding/base64"
	"strconv"
	"time"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
	"github.com/oklog/ulid/v2"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/structpb"
)

// Report is what had already happened when a call was cancelled, in the words of the provider.
type Report struct {
	// ID is what the provider was told the event of the report is known by: that of the end of the call.
	ID string
	// Note is for a person.
	Note string
	// Partial is what of the result there was; nil when there was none.
	Partial *structpb.Struct
	// Output is what was printed after the cancellation, at most its last 64 KiB.
	Output []byte
}

// reportFrom reads the error that a provider hands over after a cancellation.
func reportFrom(e *toolv1.ToolError) *Report {
	details := e.GetDetails().GetFields()
	r := &Report{ID: ulid.Make().String(), Note: e.GetMessage(), Partial: details["partial_result"].GetStructValue()}
	output := details["output"].GetStringValue()
	r.Output = []byte(output)
	if details["output_encoding"].GetStringValue() == "base64" {
		if decoded, err := base64.StdEncoding.DecodeString(output); err == nil {
			r.Output = decoded
		}
	}
	return r
}

// events is the report as the events that the stream could not carry any more.
func (r *Report) events() []*toolv1.ToolEvent {
	var events []*toolv1.ToolEvent
	if len(r.Output) > 0 {
		events = append(events, &toolv1.ToolEvent{Event: &toolv1.ToolEvent_OutputChunk_{OutputChunk: &toolv1.ToolEvent_OutputChunk{
			Stream: toolv1.OutputStream_OUTPUT_STREAM_STDOUT, Data: r.Output}}})
	}
	payload := r.Partial
	if len(payload.GetFields()) == 0 && r.Note != "" {
		payload = &structpb.Struct{Fields: map[string]*structpb.Value{"note": structpb.NewStringValue(r.Note)}}
	}
	if payload != nil {
		events = append(events, &toolv1.ToolEvent{Event: &toolv1.ToolEvent_PartialResult_{PartialResult: &toolv1.ToolEvent_PartialResult{
			Payload: payload}}})
	}
	return events
}

const (
	// reportPatience is how long the report of a cancelled call is waited for: the grace time a provider has for it, and
	// a little for the way.
	reportPatience = 6 * time.Second
	// latePatience is how long it is when the provider is seen to live and has not answered the question about the call, as
	// one that knows it does not before it has reported: the machine is slow then.
	latePatience = 30 * time.Second
)

// awaitReport waits for what a provider has to say of a call that was cancelled, which can only come over the
// callback stream: gRPC delivers nothing more on the stream of the call.
func (l *life) awaitReport(call Call, reports <-chan *Report, show func(*toolv1.ToolEvent)) Reply {
	if !l.announcer.reachable() {
		l.suspect()
		return cancelled(call, nil)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	asked := l.ask(metadata.AppendToOutgoingContext(numbered(ctx, call), plugin.ReportHeader, call.ID), call)
	alive := l.ask(ctx, call)
	timer := time.NewTimer(reportPatience)
	defer timer.Stop()
	report, reported := l.reportWithin(timer.C, reports, nil)
	if !reported && closed(alive) && !closed(asked) && !closed(l.process.exited) {
		timer.Reset(latePatience - reportPatience)
		report, reported = l.reportWithin(timer.C, reports, asked)
	}
	switch {
	case reported:
		for _, event := range report.events() {
			show(event)
		}
	case closed(l.process.exited):
		l.callbacks.log.Warn("the provider ended during a cancelled call", "operation", call.Operation.String(), "ending", l.process.ending())
	default:
		l.callbacks.log.Warn("the provider did not report on a cancelled call in time: the call is abandoned",
			"operation", call.Operation.String(), "call", call.ID)
		l.suspect()
	}
	return cancelled(call, report)
}

// reportWithin waits for a report until the time is over, there will be none, or the process has ended.
func (l *life) reportWithin(over <-chan time.Time, reports <-chan *Report, none <-chan struct{}) (*Report, bool) {
	select {
	case report := <-reports:
		return report, true
	case <-over:
	case <-none:
	case <-l.process.exited:
	}
	select {
	case report := <-reports: // before whatever else
		return report, true
	default:
		return nil, false
	}
}

// ask asks a provider who it is, and with that, if ctx says so, about a call that was cancelled. For one that had just ended
// there, or had not come yet, there is nothing to report by itself; a provider that knows the question does then. The channel
// is closed when it has answered.
func (l *life) ask(ctx context.Context, call Call) <-chan struct{} {
	answered := make(chan struct{})
	service, err := find(l.serves, call.Operation.Category)
	if err != nil {
		return answered
	}
	go func() {
		if _, err := service.describe(ctx, &Introduction{}); err == nil {
			close(answered)
		}
	}()
	return answered
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// numbered tells which attempt at a call an RPC is about, when it is not the first.
func numbered(rpc context.Context, call Call) context.Context {
	if call.Attempt <= 1 {
		return rpc
	}
	return metadata.AppendToOutgoingContext(rpc, plugin.AttemptHeader, strconv.Itoa(call.Attempt))
}

// notBegun is the end of a call that was cancelled before the provider was told of it.
func notBegun(call Call) Reply {
	return Reply{Ending: Cancelled, Error: Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED,
		"%s was cancelled before it began; nothing was done", call.Operation)}
}

func cancelled(call Call, report *Report) Reply {
	text := "what had already happened is not known"
	if report != nil && report.Note != "" {
		text = report.Note
	}
	return Reply{Ending: Cancelled, Report: report,
		Error: Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, "%s was cancelled: %s", call.Operation, text)}
}
