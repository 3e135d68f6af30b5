package sdk

import (
	"context"
	"encoding/base64"
	"errors"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/proto/codec"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// report hands the kernel what a cancelled call had already done. gRPC delivers nothing on a stream that the
// client has cancelled, so the report goes over the callback channel.
func (s *server) report(ctx context.Context, f *frame, out outcome) {
	if errors.Is(context.Cause(f.events.ctx), errKernelGone) {
		return // there is nobody to tell
	}
	if errors.Is(out.err, errAbandoned) {
		f.logger().Warn("abandoned after the grace time; it keeps its turn until it returns", "operation", f.operation.name, "call", f.call.GetId())
		// The grace time is over; what is known still goes out.
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		ctx = late
	}
	note, payload := f.events.conclusion(out)
	// A function that had nothing to report has done nothing that it knows of, which is an object too.
	details := map[string]any{"partial_result": payload.AsMap()}
	if kept := f.events.output.kept; utf8.Valid(kept) {
		details["output"] = string(kept)
	} else {
		details["output"], details["output_encoding"] = base64.StdEncoding.EncodeToString(kept), "base64"
	}
	err := s.callbacks.emitCancelled(ctx, f.call, &toolv1.ToolError{
		Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED,
		Message:  note,
		Details:  looseStruct(details),
	})
	if err != nil {
		f.logger().Warn("the kernel did not take the report of a cancelled call", "call", f.call.GetId(), "error", err.Error())
	}
}

// conclusion is what a cancelled call has to say: its own report, or what its outcome tells.
func (e *events) conclusion(out outcome) (note string, payload *structpb.Struct) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.report != nil {
		if note = e.report.GetFields()["note"].GetStringValue(); note == "" {
			note = "cancelled; what had happened is in the partial result"
		}
		return note, e.report
	}
	var waited *neverStarted
	switch cause := out.err; {
	case errors.As(cause, &waited):
		return "cancelled while it waited for a call that it may not run beside; nothing was done", nil
	case cause == nil:
		payload, _ := codec.Opened(out.payload) // it was encoded here
		return "completed before the cancellation took effect", payload
	case errors.Is(cause, errAbandoned):
		note = cause.Error() + "; what it had done is not known"
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded):
		note = "cancelled"
	default:
		note = "cancelled; it ended with: " + asError(cause).Message
	}
	return note, nil
}
