package sdk

import (
	"context"
	"encoding/base64"
	"errors"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/proto/codec"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// report hands the kernel what a cancelled call had already done. gRPC delivers nothing on a stream that the
// client has cancelled, so the report goes over the callback channel. The grace time is the function's: a report that is late,
// since the machine is slow, is of more use than none.
func (s *server) report(f *frame, out outcome) {
	if errors.Is(context.Cause(f.events.ctx), errKernelGone) {
		return // there is nobody to tell
	}
	if errors.Is(out.err, errAbandoned) {
		f.logger().Warn("abandoned after the grace time; it keeps its turn until it returns", "operation", f.operation.name, "call", f.call.GetId())
	}
	note, payload := f.events.conclusion(out)
	err := s.tell(context.WithoutCancel(f.events.ctx), f.call, note, payload, f.events.output.kept)
	if err != nil {
		f.logger().Warn("the kernel did not take the report of a cancelled call", "call", f.call.GetId(), "error", err.Error())
	}
}

// tell hands over what a cancelled call had done, and what it has put out since. It gives up after kernelPatience.
func (s *server) tell(ctx context.Context, call *toolv1.ToolCall, note string, payload *structpb.Struct, output []byte) error {
	// A function that had nothing to report has done nothing that it knows of, which is an object too.
	details := map[string]any{"partial_result": payload.AsMap()}
	if utf8.Valid(output) {
		details["output"] = string(output)
	} else {
		details["output"], details["output_encoding"] = base64.StdEncoding.EncodeToString(output), "base64"
	}
	ctx, cancel := context.WithTimeout(ctx, kernelPatience)
	defer cancel()
	return s.callbacks.emitCancelled(ctx, call, &toolv1.ToolError{
		Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED,
		Message:  note,
		Details:  looseStruct(details),
	})
}

// completedFirst is the note of a call that was over when it was cancelled.
const completedFirst = "completed before the cancellation took effect"

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
	case errors.Is(cause, errNotBegun):
		return "cancelled before it began; nothing was done", nil
	case cause == nil:
		payload, _ := codec.Opened(out.payload) // it was encoded here
		return completedFirst, payload
	case errors.Is(cause, errAbandoned):
		note = cause.Error() + "; what it had done is not known"
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded):
		note = "cancelled"
	default:
		note = "cancelled; it ended with: " + asError(cause).Message
	}
	return note, nil
}
