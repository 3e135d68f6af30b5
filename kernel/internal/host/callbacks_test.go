package host

import (
	"errors"
	"math"
	"testing"
	"time"

	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	logv1 "github.com/agentco/agent/proto/pluggableharness/log/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func reportOf(t testing.TB, callID string, details map[string]any) *kernelv1.EmitRequest {
	t.Helper()
	s, err := structpb.NewStruct(details)
	require.NoError(t, err)
	payload, err := proto.Marshal(&eventv1.ToolResultEvent{ToolCallId: callID, Outcome: &eventv1.ToolResultEvent_Error{
		Error: &toolv1.ToolError{Message: "half done", Details: s}}})
	require.NoError(t, err)
	return &kernelv1.EmitRequest{Kind: kernelv1.EventKind_EVENT_KIND_TOOL_RESULT, SchemaVersion: plugin.SchemaVersion, Payload: payload}
}

func TestEmit(t *testing.T) {
	result, err := proto.Marshal(&eventv1.ToolResultEvent{ToolCallId: "one", Outcome: &eventv1.ToolResultEvent_Result{Result: &toolv1.ToolResult{}}})
	require.NoError(t, err)
	tests := []struct {
		name   string
		change func(*kernelv1.EmitRequest)
		want   codes.Code
	}{
		{"a report", func(*kernelv1.EmitRequest) {}, codes.OK},
		{"an event that nobody keeps", func(r *kernelv1.EmitRequest) { r.Kind = kernelv1.EventKind_EVENT_KIND_MESSAGE }, codes.Unimplemented},
		{"a call", func(r *kernelv1.EmitRequest) { r.Kind = kernelv1.EventKind_EVENT_KIND_TOOL_CALL }, codes.PermissionDenied},
		{"a decision", func(r *kernelv1.EmitRequest) { r.Kind = kernelv1.EventKind_EVENT_KIND_PLAN }, codes.PermissionDenied},
		{"no kind", func(r *kernelv1.EmitRequest) { r.Kind = 0 }, codes.InvalidArgument},
		{"another version", func(r *kernelv1.EmitRequest) { r.SchemaVersion = "2" }, codes.InvalidArgument},
		{"no event at all", func(r *kernelv1.EmitRequest) { r.Payload = []byte("\xff") }, codes.InvalidArgument},
		{"a result", func(r *kernelv1.EmitRequest) { r.Payload = result }, codes.InvalidArgument},
		{"no number", func(r *kernelv1.EmitRequest) {
			r.Payload = reportOf(t, "one", map[string]any{"n": math.Inf(1)}).Payload
		}, codes.InvalidArgument},
		{"an unknown call", func(r *kernelv1.EmitRequest) { r.Payload = reportOf(t, "two", nil).Payload }, codes.NotFound},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := newCallbacks(Spec{Log: new(testLog).logger()})
			_, forget := c.expect("one")
			defer forget()
			r := reportOf(t, "one", nil)
			test.change(r)
			result, err := c.Emit(t.Context(), r)
			require.Equal(t, test.want, status.Code(err))
			if test.want == codes.OK {
				require.NotEmpty(t, result.GetId())
				require.Zero(t, result.GetSequence(), "it has no place before the call has ended")
			}
		})
	}
}

func TestReportOutput(t *testing.T) {
	tests := []struct {
		name    string
		details map[string]any
		want    string
	}{
		{"text", map[string]any{"output": "aGkK"}, "aGkK"},
		{"bytes", map[string]any{"output": "/w==", "output_encoding": "base64"}, "\xff"},
		{"broken encoding", map[string]any{"output": "?", "output_encoding": "base64"}, "?"},
		{"none", nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := newCallbacks(Spec{Log: new(testLog).logger()})
			reports, forget := c.expect("one")
			defer forget()
			_, err := c.Emit(t.Context(), reportOf(t, "one", test.details))
			require.NoError(t, err)
			report := <-reports
			require.Equal(t, test.want, string(report.Output))
			events := report.events()
			require.Equal(t, "half done", events[len(events)-1].GetPartialResult().GetPayload().AsMap()["note"])
		})
	}
}

func TestLog(t *testing.T) {
	var log testLog
	c := newCallbacks(Spec{Log: log.logger()})
	fields, err := structpb.NewStruct(map[string]any{"path": "a b"})
	require.NoError(t, err)
	entry := func(l logv1.LogLevel, message string) *logv1.LogEntry {
		return &logv1.LogEntry{Level: l, Logger: "fixture.part", Message: message, Fields: fields, Time: timestamppb.New(time.Now())}
	}
	_, err = c.Log(t.Context(), &kernelv1.LogRequest{
		Entry:   entry(logv1.LogLevel_LOG_LEVEL_WARN, "old way"),
		Entries: []*logv1.LogEntry{entry(logv1.LogLevel_LOG_LEVEL_FATAL, "new way"), entry(logv1.LogLevel_LOG_LEVEL_TRACE, "quietly"), nil},
	})
	require.NoError(t, err)
	require.Contains(t, log.String(), `level=WARN msg="old way" logger=fixture.part path="a b"`)
	require.Contains(t, log.String(), `level=ERROR+4 msg="new way"`)
	require.Contains(t, log.String(), `level=DEBUG-4 msg=quietly`)
}

func FuzzEmit(f *testing.F) {
	f.Add(reportOf(f, "one", map[string]any{"output": "hi", "partial_result": map[string]any{"note": "x"}}).Payload)
	f.Fuzz(func(t *testing.T, payload []byte) {
		c := newCallbacks(Spec{Log: new(testLog).logger()})
		reports, forget := c.expect("one")
		defer forget()
		_, err := c.Emit(t.Context(), &kernelv1.EmitRequest{
			Kind: kernelv1.EventKind_EVENT_KIND_TOOL_RESULT, SchemaVersion: plugin.SchemaVersion, Payload: payload})
		if err == nil {
			(<-reports).events()
		}
	})
}

func TestEmissions(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*kernelv1.EmitRequest)
		answer error
		want   codes.Code
	}{
		{"kept", func(*kernelv1.EmitRequest) {}, nil, codes.OK},
		{"of a version of its own", func(r *kernelv1.EmitRequest) { r.SchemaVersion = "7" }, nil, codes.OK},
		{"of no version", func(r *kernelv1.EmitRequest) { r.SchemaVersion = "" }, nil, codes.InvalidArgument},
		{"too large", func(r *kernelv1.EmitRequest) { r.Payload = make([]byte, longestEmission+1) }, nil, codes.ResourceExhausted},
		{"for no session", func(*kernelv1.EmitRequest) {}, ErrNoSession, codes.NotFound},
		{"with a secret", func(*kernelv1.EmitRequest) {}, ErrSecret, codes.InvalidArgument},
		{"not kept", func(*kernelv1.EmitRequest) {}, ErrNotKept, codes.Unimplemented},
		{"with a full disk", func(*kernelv1.EmitRequest) {}, errors.New("full"), codes.Unavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCallbacks(Spec{Name: "fixture", Log: new(testLog).logger(), Emit: func(e Emission) (string, int64, error) {
				require.Equal(t, "fixture", e.Provider)
				require.Equal(t, "s", e.SessionID)
				return "id", 7, test.answer
			}})
			r := &kernelv1.EmitRequest{SessionId: "s", Kind: kernelv1.EventKind_EVENT_KIND_MESSAGE, SchemaVersion: "1", Payload: []byte("any")}
			test.change(r)
			result, err := c.Emit(t.Context(), r)
			require.Equal(t, test.want, status.Code(err))
			if test.want == codes.OK {
				require.Equal(t, "id", result.GetId())
				require.Equal(t, int64(7), result.GetSequence())
			}
		})
	}
}
