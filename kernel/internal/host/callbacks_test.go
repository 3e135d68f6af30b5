package host

import (
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
		{"another event", func(r *kernelv1.EmitRequest) { r.Kind = kernelv1.EventKind_EVENT_KIND_MESSAGE }, codes.Unimplemented},
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
			c := newCallbacks(new(testLog).logger())
			_, forget := c.expect("one")
			defer forget()
			r := reportOf(t, "one", nil)
			test.change(r)
			result, err := c.Emit(t.Context(), r)
			require.Equal(t, test.want, status.Code(err))
			if test.want == codes.OK {
				require.NotEmpty(t, result.GetId())
				require.Equal(t, int64(1), result.GetSequence())
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
			c := newCallbacks(new(testLog).logger())
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
	c := newCallbacks(log.logger())
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
		c := newCallbacks(new(testLog).logger())
		reports, forget := c.expect("one")
		defer forget()
		_, err := c.Emit(t.Context(), &kernelv1.EmitRequest{
			Kind: kernelv1.EventKind_EVENT_KIND_TOOL_RESULT, SchemaVersion: plugin.SchemaVersion, Payload: payload})
		if err == nil {
			(<-reports).events()
		}
	})
}
