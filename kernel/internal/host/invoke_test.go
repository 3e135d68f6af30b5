package host

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/host/hosttest"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// The sequence of the first seed document, event by event.
func TestInvokeTool(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	reply, r := invoke(t, p, "sequence", nil)
	require.Equal(t, []string{"progress", "output_chunk", "output_chunk", "exit_status"}, r.Names())
	require.Equal(t, "FAIL\n", string(r.Events[2].GetOutputChunk().GetData()))
	require.Equal(t, toolv1.OutputStream_OUTPUT_STREAM_STDERR, r.Events[2].GetOutputChunk().GetStream())
	require.Equal(t, Completed, reply.Ending)
	require.Equal(t, int32(1), reply.ExitStatus.GetExitCode())
	require.Equal(t, map[string]any{"exit_code": 1.0, "summary": "1 package failed"}, reply.Payload.AsMap())
}

func TestInvokeCommand(t *testing.T) {
	p, err := Start(t.Context(), spec(hosttest.Good), fixed(map[string]any{"greeting": "good day"}))
	require.NoError(t, err)
	t.Cleanup(p.Close)
	reply, r := invoke(t, p, "hello", map[string]any{"name": "Ann"})
	require.Equal(t, Completed, reply.Ending)
	require.Equal(t, "good day Ann", reply.Payload.AsMap()["greeting"])
	require.Equal(t, []string{"progress", "output_chunk", "partial_result", "exit_status"}, r.Names())
	require.InDelta(t, 0.5, r.Events[0].GetProgress().GetFractionComplete(), 0)
	require.Equal(t, "hm\n", string(r.Events[1].GetOutputChunk().GetData()))
	require.Equal(t, "good day Ann", r.Events[2].GetPartialResult().GetPayload().AsMap()["greeting"])
	require.Equal(t, "SIGTERM", r.Events[3].GetExitStatus().GetSignal())
}

func TestInvokeFaults(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	tests := []struct{ name, want string }{
		{"two results", "sent result after its last event"},
		{"output after the result", "sent output_chunk after its last event"},
		{"two exits", "second exit_status"},
		{"no end", "without a result or an error"},
		{"empty event", "event without content"},
		{"no category", "UNSPECIFIED"},
		{"claims a crash", "PROCESS_CRASHED"},
		{"plain status", "wires crossed"},
		{"status that claims a crash", "wires crossed"},
		{"no number", `sent a result that cannot be passed on: "n" must be a finite number`},
		{"no number in a part", `sent a partial_result that cannot be passed on: "n" must be a finite number`},
		{"no number in an error", `("sums do not add up") that cannot be passed on: "n" must be a finite number`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			reply, _ := invoke(t, p, "misbehave", map[string]any{"how": test.name})
			require.Equal(t, Failed, reply.Ending)
			require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN, reply.Error.GetCategory())
			require.Contains(t, reply.Error.GetMessage(), test.want)
			require.NotEmpty(t, reply.Error.GetDetails().GetFields()["cause"].GetStringValue())
		})
	}
	t.Run("never closes", func(t *testing.T) {
		reply, _ := invoke(t, p, "misbehave", map[string]any{"how": "never closes"})
		require.Equal(t, Completed, reply.Ending)
	})
	t.Run("status with an error in it", func(t *testing.T) {
		reply, _ := invoke(t, p, "refuse", nil)
		require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND, reply.Error.GetCategory())
		require.Equal(t, "there is no moon", reply.Error.GetMessage())
	})
}

// A provider that is told to end cancels its calls, and leaves when the last of them has been put right.
func TestCallThatItsProviderCancels(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, want string
		ending     Ending
	}{
		{"claims a cancellation by its status", `nobody has cancelled it`, Failed},
		{"claims a cancellation", `nobody has cancelled it ("had enough")`, Failed},
		{"claims a cancellation and ends", "exit status 1", Crashed},
		{"claims a cancellation and ends later", "exit status 1", Crashed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			reply, _ := invoke(t, start(t, spec(hosttest.Good)), "misbehave", map[string]any{"how": test.name})
			require.Equal(t, test.ending, reply.Ending, reply.Error)
			require.Contains(t, reply.Error.GetMessage(), test.want)
		})
	}
}

// K24
func TestCrashAndRestart(t *testing.T) {
	tests := []struct{ name, want, words string }{
		{"exit 3", "exit status 3", "no more fuel"},
		{"exit 0", "exit status 0", ""},
		{"panic", "exit status 2", "panic: the moon fell"},
		{"kill", "signal: killed", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := Start(t.Context(), spec(hosttest.Good), fixed(map[string]any{"greeting": "again"}))
			require.NoError(t, err)
			t.Cleanup(p.Close)
			reply, _ := invoke(t, p, "die", map[string]any{"how": test.name})
			require.Equal(t, Crashed, reply.Ending, reply.Error)
			require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PROCESS_CRASHED, reply.Error.GetCategory())
			require.Contains(t, reply.Error.GetMessage(), test.want)
			require.Contains(t, reply.Error.GetMessage(), test.words)
			require.Equal(t, test.want, reply.Error.GetDetails().GetFields()["ending"].GetStringValue())
			reply, _ = invoke(t, p, "hello", nil)
			require.Equal(t, Completed, reply.Ending, reply.Error)
			require.Equal(t, "again ", reply.Payload.AsMap()["greeting"], "the new process has the configuration of the first")
		})
	}
}

func TestKillFromOutsideDuringCall(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	pid, _ := invoke(t, p, "pid", nil)
	r := hosttest.NewRecorder()
	replies := make(chan Reply, 1)
	go func() { replies <- p.Invoke(t.Context(), callOf(t, p, "block", nil), r.Show) }()
	<-r.Came
	process, err := os.FindProcess(int(pid.Payload.AsMap()["pid"].(float64)))
	require.NoError(t, err)
	require.NoError(t, process.Kill())
	reply := <-replies
	require.Equal(t, Crashed, reply.Ending, reply.Error)
	require.Contains(t, reply.Error.GetMessage(), "signal: killed")
}

func TestCrashLoopIsStopped(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	for range crashLimit {
		reply, _ := invoke(t, p, "die", map[string]any{"how": "exit 3"})
		require.Contains(t, reply.Error.GetMessage(), "exit status 3")
	}
	reply, r := invoke(t, p, "echo", map[string]any{"text": "hi"})
	require.Equal(t, Crashed, reply.Ending, reply.Error)
	require.Contains(t, reply.Error.GetMessage(), "died or did not start 3 times within 1m0s")
	require.Empty(t, r.Names())
	p.mu.Lock()
	p.loop.crashes[0].at = p.loop.crashes[0].at.Add(-crashWindow)
	p.mu.Unlock()
	reply, _ = invoke(t, p, "echo", map[string]any{"text": "hi"})
	require.Equal(t, Completed, reply.Ending, reply.Error)
}

func TestCancelBringsTheReport(t *testing.T) {
	for _, name := range []string{"block", "tidy"} {
		t.Run(name, func(t *testing.T) {
			p := start(t, spec(hosttest.Good))
			ctx, cancel := context.WithCancel(t.Context())
			r := hosttest.NewRecorder()
			go func() {
				<-r.Came
				cancel()
			}()
			reply := p.Invoke(ctx, callOf(t, p, name, nil), r.Show)
			require.Equal(t, Cancelled, reply.Ending)
			require.NotNil(t, reply.Report, reply.Error)
			require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, reply.Error.GetCategory())
			if name == "tidy" {
				require.Equal(t, []string{"progress", "partial_result"}, r.Names())
				require.Equal(t, "one room is tidy", r.Events[1].GetPartialResult().GetPayload().AsMap()["note"])
				return
			}
			require.Equal(t, []string{"progress", "output_chunk", "partial_result"}, r.Names())
			require.Equal(t, "last words\n", string(reply.Report.Output))
			require.Equal(t, map[string]any{"note": "half of it was done", "done": 1.0}, reply.Report.Partial.AsMap())
			require.Contains(t, reply.Error.GetMessage(), "half of it was done")
		})
	}
}

// A provider has nothing to report of a call that it has ended, and gRPC drops that end at the cancellation: it is asked.
func TestCallThatWasOverIsAskedAbout(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	ctx, cancel := context.WithCancel(t.Context())
	r := hosttest.NewRecorder()
	reply := p.Invoke(ctx, callOf(t, p, "late", nil), func(e *toolv1.ToolEvent) {
		cancel()
		r.Show(e)
	})
	require.Equal(t, Cancelled, reply.Ending)
	require.NotNil(t, reply.Report, reply.Error)
	require.Contains(t, reply.Error.GetMessage(), "late was cancelled: it was done already")
	require.Equal(t, map[string]any{"done": 1.0}, reply.Report.Partial.AsMap())
	require.Equal(t, []string{"progress", "partial_result"}, r.Names())
}

// A report is waited for longer when the provider is seen to live and to have one.
func TestReportOfAStarvedProvider(t *testing.T) {
	t.Parallel()
	p := start(t, spec(hosttest.Good))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := hosttest.NewRecorder()
	go func() {
		<-r.Came
		cancel()
	}()
	reply := p.Invoke(ctx, callOf(t, p, "starved", nil), r.Show)
	require.Equal(t, Cancelled, reply.Ending)
	require.NotNil(t, reply.Report, reply.Error)
	require.Contains(t, reply.Error.GetMessage(), "it took a while")
}

// A provider dials when it first has to, which may be long after the first announcement was forgotten.
func TestLateDialStillFindsTheKernel(t *testing.T) {
	t.Parallel()
	p := start(t, spec(hosttest.Good))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(6500*time.Millisecond, cancel)
	reply := p.Invoke(ctx, callOf(t, p, "block", nil), hosttest.NewRecorder().Show)
	require.Equal(t, Cancelled, reply.Ending)
	require.NotNil(t, reply.Report, reply.Error)
}

func TestCancelBeforeTheCall(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := hosttest.NewRecorder()
	reply := p.Invoke(ctx, callOf(t, p, "echo", map[string]any{"text": "hi"}), r.Show)
	require.Equal(t, Cancelled, reply.Ending)
	require.Contains(t, reply.Error.GetMessage(), "nothing was done")
	require.Empty(t, r.Names())
}

func TestCancelIgnored(t *testing.T) {
	t.Parallel()
	var log testLog
	s := spec(hosttest.Good)
	s.Log = log.logger()
	p := start(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	r := hosttest.NewRecorder()
	go func() {
		<-r.Came
		cancel()
	}()
	reply := p.Invoke(ctx, callOf(t, p, "deaf", nil), r.Show)
	require.Equal(t, Cancelled, reply.Ending)
	require.Nil(t, reply.Report)
	require.Contains(t, log.String(), "the call is abandoned")
	reply, _ = invoke(t, p, "echo", map[string]any{"text": "still here"})
	require.Equal(t, Completed, reply.Ending)
}

func TestKillEndsCancelledCall(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	ctx, cancel := context.WithCancel(t.Context())
	r := hosttest.NewRecorder()
	go func() {
		<-r.Came
		cancel()
		p.Kill()
	}()
	reply := p.Invoke(ctx, callOf(t, p, "deaf", nil), r.Show)
	require.Equal(t, Cancelled, reply.Ending)
	p.Close()
}

// K22
func TestLongLineDoesNotStall(t *testing.T) {
	var log testLog
	s := spec(hosttest.Good)
	s.Log = log.logger()
	p := start(t, s)
	reply, _ := invoke(t, p, "print", map[string]any{"bytes": 1 << 20})
	require.Equal(t, Completed, reply.Ending)
	p.Close()
	require.Contains(t, log.String(), "bytes in all)")
	require.NotContains(t, log.String(), strings.Repeat("x", longestLine+1))
}

// K23
func TestLargeMessages(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	reply, _ := invoke(t, p, "big", map[string]any{"bytes": 10 << 20, "ballast": strings.Repeat("y", 10<<20)})
	require.Equal(t, Completed, reply.Ending, reply.Error)
	require.Len(t, reply.Payload.AsMap()["text"], 10<<20)
	reply, _ = invoke(t, p, "big", map[string]any{"bytes": messageLimit + 1})
	require.Equal(t, Failed, reply.Ending)
	require.Contains(t, reply.Error.GetMessage(), "too large")
	reply, _ = invoke(t, p, "echo", map[string]any{"text": "hi"})
	require.Equal(t, Completed, reply.Ending, "the provider goes on")
}

func TestCallsAtOnce(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	call := callOf(t, p, "echo", map[string]any{"text": "hi"})
	var group errgroup.Group
	for range 50 {
		group.Go(func() error {
			if reply := p.Invoke(t.Context(), call, func(*toolv1.ToolEvent) {}); reply.Ending != Completed {
				return errors.New(reply.Error.GetMessage())
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
}

func TestPreviewAndRender(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	tree, err := p.Preview(t.Context(), callOf(t, p, "write", map[string]any{"path": "x", "content": ""}))
	require.NoError(t, err)
	require.Equal(t, "would write x", tree.GetRoot().GetText().GetContent())
	_, err = p.Preview(t.Context(), callOf(t, p, "echo", nil))
	require.Error(t, err)
	tree, err = p.Render(t.Context(), callOf(t, p, "hello", nil).Operation, []byte("{}"))
	require.NoError(t, err)
	require.Equal(t, "command {}", tree.GetRoot().GetText().GetContent())
	_, err = p.Render(t.Context(), callOf(t, p, "echo", nil).Operation, []byte(`{"text":"plain"}`))
	require.ErrorContains(t, err, "empty tree")
}

// K33 is proven by every report above: they all come over the callback stream under mutual TLS.
func TestReportOfAnUnknownCallIsRefused(t *testing.T) {
	c := newCallbacks(Spec{Log: new(testLog).logger()})
	require.False(t, c.deliver("nobody", &Report{}))
	reports, forget := c.expect("one")
	require.True(t, c.deliver("one", &Report{Note: "first"}))
	require.False(t, c.deliver("one", &Report{Note: "second"}))
	require.Equal(t, "first", (<-reports).Note)
	forget()
	require.False(t, c.deliver("one", &Report{}))
}

// The word of a provider that something else cannot be reached is no end of its own connection.
func TestProviderMaySayUnavailable(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	before := p.life
	reply, _ := invoke(t, p, "misbehave", map[string]any{"how": "unavailable"})
	require.Equal(t, Failed, reply.Ending, reply.Error)
	require.Contains(t, reply.Error.GetMessage(), "the moon is out of reach")
	reply, _ = invoke(t, p, "echo", map[string]any{"text": "hi"})
	require.Equal(t, Completed, reply.Ending, reply.Error)
	require.Same(t, before, p.life)
}

func TestCloseDuringCall(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	r := hosttest.NewRecorder()
	replies := make(chan Reply, 1)
	go func() { replies <- p.Invoke(context.Background(), callOf(t, p, "deaf", nil), r.Show) }()
	<-r.Came
	p.Close()
	require.Equal(t, Crashed, (<-replies).Ending)
}
