package sdktest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/sdktest"
)

func TestMain(m *testing.M) {
	if os.Getenv(plugin.MagicCookieKey) != "" {
		sdk.Main(provider())
	}
	goleak.VerifyTestMain(m)
}

type config struct {
	Name string `hcl:"name"`
}

type in struct {
	Text string `json:"text"`
}

type out struct {
	Text string `json:"text"`
}

// provider has an echo that shows itself in every way, as a tool and as a command.
func provider() *sdk.Provider[config] {
	p := sdk.New[config]("echo", "For tests.")
	run := func(ctx context.Context, c *sdk.Call[config], in in) (out, error) {
		switch in.Text {
		case "":
			return out{}, sdk.InvalidArgument("text", "is empty")
		case "wait":
			c.Status("waiting")
			<-ctx.Done()
			c.Report("waited")
			if _, told := ctx.Deadline(); told {
				c.Report("waited for a deadline that no kernel sends")
			}
			return out{}, ctx.Err()
		}
		c.Status("working")
		fmt.Fprint(c.Stdout(), "out")
		fmt.Fprint(c.Stderr(), "err")
		c.Log().Info("logged")
		_, err := c.Emit(sdk.Event{Kind: kernelv1.EventKind_EVENT_KIND_MESSAGE, Payload: []byte(in.Text)})
		return out{c.Config.Name + ": " + in.Text + " in " + c.Dir}, err
	}
	plan := func(_ *sdk.Call[config], in in) (sdk.Plan, error) { return sdk.Says("echo %s", in.Text), nil }
	line := func(_ in, out out) string { return "said " + out.Text }
	sdk.Tool(p, "echo", "Echoes.", run).Streaming().Concurrent().Preview(plan).Render(line)
	sdk.Command(p, "say", "Echoes.", run).Streaming().Concurrent().Preview(plan).Render(line)
	return p
}

func TestHarness(t *testing.T) {
	settings := map[string]any{"name": "ada"}
	for name, start := range map[string]func(*testing.T) *sdktest.Harness{
		"inside": func(t *testing.T) *sdktest.Harness { return sdktest.Start(t, provider(), settings) },
		"a process": func(t *testing.T) *sdktest.Harness {
			return sdktest.StartProcess(t, exec.Command(os.Args[0]), settings)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t)
			require.Equal(t, "echo", h.Tools(t.Context())[0].GetName())
			require.Equal(t, "say", h.Commands(t.Context())[0].GetName())
			for _, operation := range []string{"echo", "say"} {
				t.Run(operation, func(t *testing.T) { exercise(t, h, operation) })
			}
			require.Equal(t, "logged", h.Logs()[0].GetMessage())
			require.Equal(t, "hi", string(h.Emitted()[0].GetPayload()))
			require.Contains(t, h.Call(t.Context(), "ecko", nil).Err.GetMessage(), "did you mean echo?")
		})
	}
}

func exercise(t *testing.T, h *sdktest.Harness, operation string) {
	r := h.CallIn(t.Context(), "/here", operation, map[string]any{"text": "hi"})
	require.NoError(t, r.Status)
	require.Nil(t, r.Err)
	require.Equal(t, map[string]any{"text": "ada: hi in /here"}, r.Result)
	require.Equal(t, []string{"working"}, r.Messages())
	require.Equal(t, "out", r.Stdout)
	require.Equal(t, "err", r.Stderr)

	r = h.Call(t.Context(), operation, map[string]any{"text": ""})
	require.Nil(t, r.Result)
	require.Equal(t, "text: is empty", r.Err.GetMessage())

	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	r = h.Watch(ctx, h.Dir, operation, map[string]any{"text": "wait"}, func(*toolv1.ToolEvent) { cancel() })
	require.Equal(t, codes.Canceled, status.Code(r.Status))
	require.Equal(t, "waited", r.Report.GetMessage())

	tree, err := h.Preview(t.Context(), operation, map[string]any{"text": "hi"})
	require.NoError(t, err)
	require.Equal(t, "echo hi", tree.GetRoot().GetText().GetContent())
	tree, err = h.Render(t.Context(), map[string]any{"text": "hi"})
	require.NoError(t, err)
	require.Equal(t, "said hi", tree.GetRoot().GetText().GetContent())
}

// TestRenderFindsTheOperation: a payload does not say whether it came of a tool or of a command.
func TestRenderFindsTheOperation(t *testing.T) {
	type counted struct {
		Count int `json:"count"`
	}
	both := provider()
	sdk.Command(both, "count", "Counts.", func(context.Context, *sdk.Call[config], in) (counted, error) {
		return counted{3}, nil
	}).Render(func(_ in, out counted) string { return fmt.Sprint("counted to ", out.Count) })
	h := sdktest.Start(t, both, map[string]any{"name": "ada"})
	for name, test := range map[string]struct {
		payload map[string]any
		want    string
	}{
		"of a tool":    {map[string]any{"text": "hi"}, "said hi"},
		"of a command": {h.Call(t.Context(), "count", map[string]any{"text": "x"}).Result, "counted to 3"},
		"a note":       {map[string]any{"note": "half done"}, "half done"},
	} {
		t.Run(name, func(t *testing.T) {
			tree, err := h.Render(t.Context(), test.payload)
			require.NoError(t, err)
			require.Equal(t, test.want, tree.GetRoot().GetText().GetContent())
		})
	}
	_, err := h.Render(t.Context(), map[string]any{"nobody": "knows"})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	require.Contains(t, sdktest.ToolError(err).GetMessage(), "none of the operations")
}

func TestConfigureGivesBackTheRefusal(t *testing.T) {
	err := sdktest.Configure(t, provider(), nil)
	require.Equal(t, "name is required", sdktest.ToolError(err).GetMessage())
	require.Nil(t, sdktest.ToolError(fmt.Errorf("another")))
}

// failing is a test that may fail without the one that it is part of.
type failing struct {
	testing.TB
	mu       sync.Mutex
	said     strings.Builder
	cleanups []func()
}

func (f *failing) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Fprintf(&f.said, format, args...)
}

func (f *failing) Context() context.Context { return context.Background() }
func (f *failing) Name() string             { return "TestGreet" }
func (f *failing) FailNow()                 { runtime.Goexit() }
func (f *failing) Helper()                  {}
func (f *failing) Cleanup(last func())      { f.cleanups = append(f.cleanups, last) }

// run is a test from its start to its clean-up, which a failure does not stop. It gives what the test had to complain of.
func (f *failing) run(test func(testing.TB)) string {
	step := func(do func()) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			do()
		}()
		<-done
	}
	step(func() { test(f) })
	for i := len(f.cleanups) - 1; i >= 0; i-- {
		step(f.cleanups[i])
	}
	return f.said.String()
}

func TestLeaksOfAProviderFailItsTest(t *testing.T) {
	sdktest.SetPatience(t, 500*time.Millisecond) // it is spent whole: the leak does not end
	let := make(chan struct{})
	leak := sdk.New[struct{}]("leak", "For tests.")
	var leaked sync.WaitGroup
	sdk.Tool(leak, "leak", "Leaks.", func(context.Context, *sdk.Call[struct{}], struct{}) (struct{}, error) {
		leaked.Go(func() { theLeak(let) })
		return struct{}{}, nil
	})
	said := (&failing{}).run(func(f testing.TB) {
		require.Nil(t, sdktest.Start(f, leak, nil).Call(t.Context(), "leak", nil).Err)
	})
	require.Contains(t, said, "goroutines of the provider that outlive its Close")
	require.Contains(t, said, "theLeak")
	close(let)
	leaked.Wait()
}

func theLeak(let <-chan struct{}) { <-let }

func TestARefusedConfigurationFailsTheTest(t *testing.T) {
	require.Contains(t, (&failing{}).run(func(f testing.TB) { sdktest.Start(f, provider(), nil) }), "name is required")
}

func TestACallThatIsOverBeforeItBeginsWaitsForNoReport(t *testing.T) {
	h := sdktest.Start(t, provider(), map[string]any{"name": "x"})
	sdktest.SetPatience(t, time.Hour) // with which the test would not end
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := h.Call(ctx, "echo", map[string]any{"text": "x"})
	require.Equal(t, codes.Canceled, status.Code(r.Status))
	require.Empty(t, r.Events)
	require.Nil(t, r.Report)
}
