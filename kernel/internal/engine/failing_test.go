package engine

import (
	"context"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/host/hosttest"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/stretchr/testify/require"
)

func TestCancelAndDeadline(t *testing.T) {
	t.Run("cancelled", func(t *testing.T) {
		session := open(t, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		r := hosttest.NewRecorder()
		go func() {
			<-r.Came
			cancel()
		}()
		o := session.Invoke(ctx, request(t, session, "block", nil), r.Show)
		require.Equal(t, Cancelled, o.Status)
		require.Equal(t, []string{"progress", "output_chunk", "partial_result"}, r.Names())
		require.Equal(t, "half of it was done", o.Report.Note)
		require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, o.Error.GetCategory())
	})
	t.Run("late", func(t *testing.T) {
		session := open(t, Options{})
		req := request(t, session, "block", nil)
		req.Timeout = 100 * time.Millisecond
		var r *hosttest.Recorder
		var o Outcome
		for began := false; !began; began = len(r.Names()) > 1 { // within its time, which a slow machine needs more of
			req.Timeout *= 2
			r = hosttest.NewRecorder()
			o = session.Invoke(t.Context(), req, r.Show)
		}
		require.Equal(t, Failed, o.Status)
		require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_TIMEOUT, o.Error.GetCategory())
		require.Contains(t, o.Error.GetMessage(), "stopped after "+req.Timeout.String()+", its deadline: half of it was done")
		require.Equal(t, []string{"progress", "output_chunk", "partial_result", "error"}, r.Names())
	})
	t.Run("before it began", func(t *testing.T) {
		session := open(t, Options{}, SessionOptions{Approver: gate.ApproveAll("--yes")})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := hosttest.NewRecorder()
		o := session.Invoke(ctx, request(t, session, "write", map[string]any{"path": "/x", "content": ""}), r.Show)
		require.Equal(t, Cancelled, o.Status)
		require.Empty(t, r.Names())
	})
}

func TestDeadlineOfTheConfiguration(t *testing.T) {
	s := fixture("fixture", hosttest.Good)
	s.Timeout = 200 * time.Millisecond
	session := open(t, Options{Providers: []ProviderSpec{s}})
	o := session.Invoke(t.Context(), request(t, session, "block", nil), nil)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_TIMEOUT, o.Error.GetCategory())
	req := request(t, session, "slow", nil)
	req.Timeout = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	r := hosttest.NewRecorder()
	go func() {
		<-r.Came
		cancel()
	}()
	require.Equal(t, Cancelled, session.Invoke(ctx, req, r.Show).Status, "the caller's deadline wins over both others")
}

func TestCrashIsAnEventAndAnOutcome(t *testing.T) {
	session := open(t, Options{})
	r := hosttest.NewRecorder()
	o := session.Invoke(t.Context(), request(t, session, "die", map[string]any{"how": "exit 3"}), r.Show)
	require.Equal(t, Crashed, o.Status)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PROCESS_CRASHED, o.Error.GetCategory())
	names := r.Names()
	require.Equal(t, "error", names[len(names)-1])
	require.Equal(t, Completed, session.Invoke(t.Context(), request(t, session, "echo", map[string]any{"text": "hi"}), nil).Status)
}

func TestPayloadThatDoesNotFit(t *testing.T) {
	session := open(t, Options{})
	r := hosttest.NewRecorder()
	o := session.Invoke(t.Context(), request(t, session, "liar", nil), r.Show)
	require.Equal(t, Failed, o.Status)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN, o.Error.GetCategory())
	require.Contains(t, o.Error.GetMessage(), `"text" must be a string, not a number`)
	require.Equal(t, []string{"error"}, r.Names(), "the result must not be seen")
	require.Nil(t, o.Result)
}

func TestCloseCancelsAndRefuses(t *testing.T) {
	session := open(t, Options{})
	req := request(t, session, "block", nil)
	r := hosttest.NewRecorder()
	outcomes := make(chan Outcome, 1)
	go func() { outcomes <- session.Invoke(context.Background(), req, r.Show) }()
	<-r.Came
	session.Engine().Close()
	session.Engine().Close()
	require.Equal(t, Cancelled, (<-outcomes).Status)
	require.Equal(t, Cancelled, session.Invoke(t.Context(), req, nil).Status)
	explained, problem := session.Explain(t.Context(), req)
	require.Nil(t, problem)
	require.NotNil(t, explained.Preview)
}

func TestKillCutsACancellationShort(t *testing.T) {
	session := open(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	r := hosttest.NewRecorder()
	go func() {
		<-r.Came
		cancel()
		session.Engine().Kill()
	}()
	require.Equal(t, Cancelled, session.Invoke(ctx, request(t, session, "deaf", nil), r.Show).Status)
}

// A provider that reports nothing, or cannot, costs its cancelled call the grace time and no more.
func TestMuteProvider(t *testing.T) {
	t.Parallel()
	session := open(t, Options{Providers: []ProviderSpec{fixture("fixture", hosttest.Mute)}})
	ctx, cancel := context.WithCancel(t.Context())
	r := hosttest.NewRecorder()
	go func() {
		<-r.Came
		cancel()
	}()
	o := session.Invoke(ctx, request(t, session, "block", nil), r.Show)
	require.Equal(t, Cancelled, o.Status)
	require.Nil(t, o.Report)
	require.Contains(t, o.Error.GetMessage(), "not known")
}

// K24: the death of one provider is nobody else's.
func TestCrashLeavesTheOthersAlone(t *testing.T) {
	session := open(t, Options{Providers: []ProviderSpec{fixture("fixture", hosttest.Good), fixture("other", hosttest.Good)}})
	pidOf := func() float64 {
		op, err := session.Lookup("other", "pid")
		require.NoError(t, err)
		o := session.Invoke(t.Context(), Request{Operation: op}, nil)
		require.Equal(t, Completed, o.Status, o.Error)
		return o.Result.AsMap()["pid"].(float64)
	}
	pid := pidOf()
	require.Equal(t, Crashed, session.Invoke(t.Context(), request(t, session, "die", map[string]any{"how": "panic"}), nil).Status)
	require.InDelta(t, pid, pidOf(), 0)
}
