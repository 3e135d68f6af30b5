package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/engine"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// writeJSON writes one line.
func (a *app) writeJSON(v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		// Only a value of ours that cannot be JSON gets here; the reader must learn of it all the same.
		fmt.Fprintf(&b, `{"error":{"message":%q}}`+"\n", err.Error())
	}
	_, _ = a.display.Out().Write(b.Bytes())
}

// protoJSON is a message with the field names of the protocol, what is not set left out.
func protoJSON(m proto.Message) json.RawMessage {
	return compact(m, protojson.MarshalOptions{UseProtoNames: true})
}

// eventJSON is protoJSON with the zeroes: an exit code of 0 is news.
func eventJSON(m proto.Message) json.RawMessage {
	return compact(m, protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true})
}

// compact takes out the blanks that protojson varies on purpose.
func compact(m proto.Message, o protojson.MarshalOptions) json.RawMessage {
	text, err := o.Marshal(m)
	if err != nil {
		text, _ = json.Marshal(map[string]string{"error": err.Error()})
	}
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return text
	}
	return b.Bytes()
}

// outcomeJSON is the last line of a call.
type outcomeJSON struct {
	Call        string              `json:"call,omitempty"` // its name among others
	Status      engine.Status       `json:"status"`
	CallID      string              `json:"call_id"`
	Operation   string              `json:"operation,omitempty"`
	Result      json.RawMessage     `json:"result,omitempty"`
	Error       json.RawMessage     `json:"error,omitempty"`
	ExitStatus  json.RawMessage     `json:"exit_status,omitempty"`
	Report      *reportJSON         `json:"report,omitempty"`
	SkippedFor  string              `json:"skipped_for,omitempty"` // the name of the call that it comes after
	DecidedBy   string              `json:"decided_by,omitempty"`
	TookMS      int64               `json:"took_ms"`
	Attempts    int                 `json:"attempts,omitempty"`
	Diagnostics []config.Diagnostic `json:"diagnostics,omitempty"`
}

type reportJSON struct {
	Note    string          `json:"note"`
	Partial json.RawMessage `json:"partial,omitempty"`
	Output  []byte          `json:"output,omitempty"`
}

func outcomeLine(o engine.Outcome) map[string]outcomeJSON {
	out := outcomeJSON{
		Status: o.Status, CallID: o.CallID, Operation: o.Operation,
		DecidedBy: o.DecidedBy, TookMS: o.Took.Milliseconds(),
	}
	if o.Attempts > 1 {
		out.Attempts = o.Attempts
	}
	if o.Result != nil {
		out.Result = protoJSON(o.Result)
	}
	if o.Error != nil {
		out.Error = eventJSON(o.Error)
	}
	if o.ExitStatus != nil {
		out.ExitStatus = eventJSON(o.ExitStatus)
	}
	if o.Report != nil {
		out.Report = &reportJSON{Note: o.Report.Note, Output: o.Report.Output}
		if o.Report.Partial != nil {
			out.Report.Partial = protoJSON(o.Report.Partial)
		}
	}
	return map[string]outcomeJSON{"outcome": out}
}

// failureLine is the outcome of a call that never came to be.
func failureLine(err error) map[string]outcomeJSON {
	out := outcomeJSON{Status: engine.Failed}
	if exitCode(err) == exitCancelled {
		out.Status = engine.Cancelled
	}
	if scope := (*engine.ScopeError)(nil); errors.As(err, &scope) {
		out.Status, out.Operation = engine.Denied, scope.Operation.String()
	}
	toolError := &toolv1.ToolError{Category: categoryOf(err), Message: strings.ToValidUTF8(err.Error(), "\uFFFD")}
	if toolError.Category == toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN {
		toolError.Details = cause(err)
	}
	out.Error = eventJSON(toolError)
	out.Diagnostics = diagnosticsIn(err)
	return map[string]outcomeJSON{"outcome": out}
}

func categoryOf(err error) toolv1.ToolErrorCategory {
	var (
		usage   *usageError
		lookup  *engine.LookupError
		project *config.NoProjectError
		scope   *engine.ScopeError
	)
	switch {
	case errors.As(err, &scope):
		return toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED
	case errors.As(err, &project):
		return toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND
	case errors.As(err, &usage), errors.As(err, &lookup):
		return toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS
	case exitCode(err) == exitCancelled:
		return toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED
	default:
		return toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN
	}
}

// errorJSON is a failure of a command that runs no call.
type errorJSON struct {
	Message string `json:"message"`
	// Kind is the category, for failures that have one.
	Kind        string              `json:"kind,omitempty"`
	Diagnostics []config.Diagnostic `json:"diagnostics,omitempty"`
	// Problems are all of them when there are several, in the order of Message.
	Problems []errorJSON `json:"problems,omitempty"`
}

func describe(err error) errorJSON {
	out := errorJSON{Message: err.Error(), Kind: kindOf(err), Diagnostics: diagnosticsIn(err)}
	if all := flatten(err); len(all) > 1 {
		for _, e := range all {
			out.Problems = append(out.Problems, errorJSON{Message: e.Error(), Kind: kindOf(e), Diagnostics: diagnosticsIn(e)})
		}
	}
	return out
}

func diagnosticsIn(err error) []config.Diagnostic {
	var all []config.Diagnostic
	for _, e := range flatten(err) {
		var files config.Diagnostics
		if errors.As(e, &files) {
			all = append(all, files...)
		}
	}
	return all
}

// cause is the raw text of an error, for the details of one that has no better category.
func cause(err error) *structpb.Struct {
	return &structpb.Struct{Fields: map[string]*structpb.Value{
		"cause": structpb.NewStringValue(strings.ToValidUTF8(err.Error(), "\uFFFD")),
	}}
}
