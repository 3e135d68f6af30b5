package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
	"github.com/agentco/agent/sdk/sdktest"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(actAs); name != "" {
		actors[name]()
		return
	}
	goleak.VerifyTestMain(m)
}

type config struct {
	Root   string `hcl:"root" doc:"A directory."`
	Token  string `hcl:"token,optional" sensitive:"true"`
	opened bool
}

type doIn struct {
	What string `json:"what"`
	N    int    `json:"n,omitempty"`
}

type doOut struct {
	Did string `json:"did"`
}

type call = sdk.Call[config]

// with is a provider of one streaming tool, "do".
func with(handle sdk.Handler[config, doIn, doOut]) *sdk.Provider[config] {
	p := sdk.New[config]("probe", "For tests.").Version("v1.2.3").Source("github.com/agentco/provider-probe")
	p.Setup(func(_ context.Context, cfg *config, _ sdk.Env) error {
		if cfg.Root == "nowhere" {
			return sdk.BadField("root", "%s is not a directory", cfg.Root)
		}
		cfg.opened = true
		return nil
	})
	sdk.Tool(p, "do", "Does it.", handle).Mutates(sdk.Moderate).Streaming().Concurrent("what").Timeout(time.Minute)
	return p
}

func start(t *testing.T, handle sdk.Handler[config, doIn, doOut]) *sdktest.Harness {
	t.Helper()
	return sdktest.Start(t, with(handle), map[string]any{"root": "/"})
}

func kinds(events []*toolv1.ToolEvent) (out []string) {
	for _, e := range events {
		name := fmt.Sprintf("%T", e.GetEvent())
		out = append(out, strings.Trim(name[strings.LastIndex(name, "ToolEvent_")+len("ToolEvent_"):], "_"))
	}
	return out
}

func TestEventsComeInOrderAndEndOnce(t *testing.T) {
	h := start(t, func(_ context.Context, c *call, in doIn) (doOut, error) {
		c.Status("starting %s", in.What)
		fmt.Fprint(c.Stdout(), "out\n")
		fmt.Fprint(c.Stderr(), "err\n")
		if err := c.Partial(map[string]any{"half": true}); err != nil {
			return doOut{}, err
		}
		c.Exit(3, "")
		c.Exit(4, "SIGKILL")
		return doOut{"done"}, nil
	})
	r := h.Call(t.Context(), "do", map[string]any{"what": "it"})
	require.Equal(t, []string{"Progress", "OutputChunk", "OutputChunk", "PartialResult", "ExitStatus", "Result"}, kinds(r.Events))
	require.Equal(t, "starting it", r.Events[0].GetProgress().GetMessage())
	require.Equal(t, "out\n", r.Stdout)
	require.Equal(t, "err\n", r.Stderr)
	require.EqualValues(t, 3, r.Events[4].GetExitStatus().GetExitCode())
	require.Equal(t, map[string]any{"did": "done"}, r.Result)
}

func TestOutputIsCutIntoChunksWithoutLoss(t *testing.T) {
	sent := strings.Repeat("0123456789", 10_000)
	h := start(t, func(_ context.Context, c *call, _ doIn) (doOut, error) {
		n, err := c.Stdout().Write([]byte(sent))
		return doOut{fmt.Sprint(n)}, err
	})
	r := h.Call(t.Context(), "do", map[string]any{"what": "it"})
	require.Equal(t, "100000", r.Result["did"])
	require.Equal(t, sent, r.Stdout)
	for _, e := range r.Events {
		require.LessOrEqual(t, len(e.GetOutputChunk().GetData()), 32<<10)
	}
}

func TestWhatComesAfterTheEndIsDropped(t *testing.T) {
	var late *call
	h := start(t, func(_ context.Context, c *call, _ doIn) (doOut, error) {
		late = c
		return doOut{}, nil
	})
	r := h.Call(t.Context(), "do", map[string]any{"what": "it"})
	require.NotNil(t, r.Result)
	_, err := late.Stdout().Write([]byte("x"))
	require.Error(t, err)
	require.Error(t, late.Partial(map[string]any{}))
	late.Status("late")
	late.Exit(0, "")
}

func TestErrorsGetTheirCategory(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	defer root.Close()
	_, escape := root.Open("../x")
	_, missing := root.Open("x")
	for _, test := range []struct {
		name string
		err  error
		want string
		text string
	}{
		{"a missing file", missing, "NOT_FOUND", "x"},
		{"wrapped", fmt.Errorf("read notes: %w", fs.ErrNotExist), "NOT_FOUND", "read notes"},
		{"refused by the system", fs.ErrPermission, "PERMISSION_DENIED", "permission denied"},
		{"an escape from a root", escape, "PERMISSION_DENIED", "escapes"},
		{"a deadline", context.DeadlineExceeded, "TIMEOUT", "deadline"},
		{"a deadline of a file", os.ErrDeadlineExceeded, "TIMEOUT", "timeout"},
		{"one's own", sdk.Conflict("somebody else writes %s", "x"), "CONCURRENCY_CONFLICT", "somebody else writes x"},
		{"one's own, wrapped", fmt.Errorf("step 2: %w", sdk.Failed("no")), "EXECUTION_FAILED", "step 2: no"},
		{"one's own argument", sdk.InvalidArgument("what", "makes no sense"), "INVALID_ARGUMENTS", "what: makes no sense"},
		{"anything else", errors.New("boom"), "UNKNOWN", "boom"},
		{"text that is not UTF-8", errors.New("a\xffb"), "UNKNOWN", "a\uFFFDb"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := start(t, func(context.Context, *call, doIn) (doOut, error) { return doOut{}, test.err })
			r := h.Call(t.Context(), "do", map[string]any{"what": "it"})
			require.Len(t, r.Events, 1)
			require.Equal(t, "TOOL_ERROR_CATEGORY_"+test.want, r.Err.GetCategory().String())
			require.Contains(t, r.Err.GetMessage(), test.text)
			if test.want == "UNKNOWN" {
				require.NotEmpty(t, r.Err.GetDetails().GetFields()["cause"].GetStringValue())
			}
		})
	}
}

func TestPanicIsAnUnknownErrorAndTheProviderLivesOn(t *testing.T) {
	h := start(t, func(_ context.Context, _ *call, in doIn) (doOut, error) {
		if in.N == 1 {
			panic("boom")
		}
		return doOut{"fine"}, nil
	})
	r := h.Call(t.Context(), "do", map[string]any{"what": "it", "n": 1})
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN, r.Err.GetCategory())
	require.Contains(t, r.Err.GetMessage(), "boom")
	require.Contains(t, r.Err.GetDetails().GetFields()["stack"].GetStringValue(), "provider_test.go")
	require.Equal(t, "fine", h.Call(t.Context(), "do", map[string]any{"what": "it"}).Result["did"])
}

func TestArgumentsAreCheckedBeforeTheFunctionRuns(t *testing.T) {
	h := start(t, func(context.Context, *call, doIn) (doOut, error) {
		t.Error("ran")
		return doOut{}, nil
	})
	for args, want := range map[string]map[string]any{
		"argument what is required":                           {},
		"argument what must be a string, not a number":        {"what": 1},
		"argument waht is not known; did you mean what?":      {"waht": "x"},
		"argument n must be a whole number, not 0.5":          {"what": "x", "n": 0.5},
		`provider probe has no operation "od"; did you mean`:  nil,
		`provider probe has no operation "zzzzzz"; it has do`: nil,
	} {
		name := "do"
		if want == nil {
			name = strings.Split(args, `"`)[1]
		}
		r := h.Call(t.Context(), name, want)
		require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS, r.Err.GetCategory(), args)
		require.Contains(t, r.Err.GetMessage(), args)
	}
}

func TestConfigurationIsRefusedWithTheFieldNamed(t *testing.T) {
	nothing := func(context.Context, *call, doIn) (doOut, error) { return doOut{}, nil }
	for _, test := range []struct {
		name   string
		config map[string]any
		field  string
	}{
		{"missing", nil, "root"},
		{"wrong type", map[string]any{"root": 1}, "root"},
		{"unknown", map[string]any{"root": "/", "rot": 1}, "rot"},
		{"refused by Setup", map[string]any{"root": "nowhere"}, "root"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := sdktest.Configure(t, with(nothing), test.config)
			require.Equal(t, codes.InvalidArgument, status.Code(err))
			require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS, sdktest.ToolError(err).GetCategory())
			require.Equal(t, test.field, sdktest.ToolError(err).GetDetails().GetFields()["field"].GetStringValue())
		})
	}
}

func TestSetupRunsBeforeCallsAndClosesAfter(t *testing.T) {
	var closed []string
	t.Run("while it lives", func(t *testing.T) {
		p := with(func(_ context.Context, c *call, _ doIn) (doOut, error) {
			return doOut{fmt.Sprint(c.Config.opened)}, nil
		})
		p.Close(func(cfg *config) error {
			closed = append(closed, cfg.Root)
			return nil
		})
		h := sdktest.Start(t, p, map[string]any{"root": "/"})
		require.Equal(t, "true", h.Call(t.Context(), "do", map[string]any{"what": "it"}).Result["did"])
		require.Empty(t, closed)
	})
	require.Equal(t, []string{"/"}, closed)
}

func TestCallsRunAtTheSameTime(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	h := start(t, func(context.Context, *call, doIn) (doOut, error) {
		both.Done()
		both.Wait() // never returns when calls run one after the other
		return doOut{}, nil
	})
	var wg sync.WaitGroup
	for _, what := range []string{"this", "that"} {
		wg.Go(func() {
			if r := h.Call(t.Context(), "do", map[string]any{"what": what}); r.Err != nil {
				t.Error(r.Err)
			}
		})
	}
	wg.Wait()
}

func TestSchemaOnTheWire(t *testing.T) {
	h := start(t, func(context.Context, *call, doIn) (doOut, error) { return doOut{}, nil })
	tool := h.Tools(t.Context())[0]
	require.Equal(t, "do", tool.GetName())
	require.Equal(t, toolv1.ToolKind_TOOL_KIND_RESOURCE, tool.GetKind())
	require.Equal(t, toolv1.RiskClass_RISK_CLASS_MODERATE, tool.GetRisk())
	require.True(t, tool.GetStreaming())
	require.True(t, tool.GetConcurrency().GetSafe())
	require.Equal(t, []string{"what"}, tool.GetConcurrency().GetKeyFields())
	require.Equal(t, time.Minute, tool.GetDefaultTimeout().AsDuration())
	require.Equal(t, []string{"did"}, tool.GetOutputSchema().GetRequired())
}

func TestWhatIsNotStreamingMaySendOnlyProgress(t *testing.T) {
	p := sdk.New[config]("probe", "For tests.")
	sdk.Command(p, "show", "Shows it.", func(_ context.Context, c *call, _ doIn) (doOut, error) {
		c.Status("reading")
		c.Report("this is for a cancellation, and there is none")
		return doOut{"shown"}, nil
	}).ReadOnly().Idempotent()
	h := sdktest.Start(t, p, map[string]any{"root": "/"})
	r := h.Call(t.Context(), "show", map[string]any{"what": "it"})
	require.Equal(t, []string{"Progress", "Result"}, kinds(r.Events))
	command := h.Commands(t.Context())[0]
	require.Equal(t, toolv1.RiskClass_RISK_CLASS_READ_ONLY, command.GetRisk())
	require.True(t, command.GetConcurrency().GetSafe())
	require.True(t, command.GetIdempotent())
}

func TestPreviewChecksAndShowsWithoutRunning(t *testing.T) {
	p := sdk.New[config]("probe", "For tests.")
	sdk.Tool(p, "write", "Writes.", func(context.Context, *call, doIn) (doOut, error) {
		t.Error("ran")
		return doOut{}, nil
	}).Preview(func(c *call, in doIn) (sdk.Plan, error) {
		if in.What == "panic" {
			panic("boom")
		}
		return sdk.Says("in %s", c.Path("x")).And(sdk.Changes(in.What, "a\nb\n", "a\nc\n")), c.Context().Err()
	}).Show(func(out doOut) render.Node { return render.Code("text", out.Did) })
	h := sdktest.Start(t, p, map[string]any{"root": "/"})
	h.Dir = filepath.FromSlash("/work/here")

	tree, err := h.Preview(t.Context(), "write", map[string]any{"what": "f.txt"})
	require.NoError(t, err)
	children := tree.GetRoot().GetGroup().GetChildren()
	require.Equal(t, "in "+filepath.FromSlash("/work/here/x"), children[0].GetText().GetContent())
	require.Equal(t, "f.txt", children[1].GetText().GetContent())
	require.Len(t, children[2].GetDiff().GetHunks()[0].GetLines(), 3)

	_, err = h.Preview(t.Context(), "write", nil)
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	require.Equal(t, "what", sdktest.ToolError(err).GetDetails().GetFields()["argument"].GetStringValue())
	_, err = h.Preview(t.Context(), "write", map[string]any{"what": "panic"})
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN, sdktest.ToolError(err).GetCategory())

	tree, err = h.Render(t.Context(), map[string]any{"did": "it"})
	require.NoError(t, err)
	require.Equal(t, "it", tree.GetRoot().GetCodeBlock().GetContent())
	tree, err = h.Render(t.Context(), map[string]any{"note": "half done"})
	require.NoError(t, err)
	require.Equal(t, "half done", tree.GetRoot().GetText().GetContent())
}

// A kernel must get an answer for all that was returned to it, and must be able to tell a part of a result from that.
func TestRenderOfAResultThatNobodyShows(t *testing.T) {
	p := sdk.New[struct{}]("plain", "Shows nothing.")
	sdk.Tool(p, "do", "Does it.", func(context.Context, *sdk.Call[struct{}], doIn) (doOut, error) { return doOut{"it"}, nil })
	h := sdktest.Start(t, p, nil)
	tree, err := h.Render(t.Context(), map[string]any{"did": "it"})
	require.NoError(t, err)
	require.JSONEq(t, `{"did": "it"}`, tree.GetRoot().GetCodeBlock().GetContent())
	_, err = h.Render(t.Context(), map[string]any{"part": "of it"})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
}

// Whoever asked must learn whether something was changed.
func TestResultTooLargeForOneMessageSaysSo(t *testing.T) {
	run := func(context.Context, *call, doIn) (doOut, error) { return doOut{strings.Repeat("x", 5<<20)}, nil }
	p := sdk.New[config]("probe", "For tests.")
	sdk.Tool(p, "look", "Looks.", run).ReadOnly()
	sdk.Tool(p, "change", "Changes.", run)
	h := sdktest.Start(t, p, map[string]any{"root": "/"})
	for operation, want := range map[string]string{"look": "ask for less at a time", "change": "change was carried out; only its result"} {
		r := h.Call(t.Context(), operation, map[string]any{"what": "it"})
		require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED, r.Err.GetCategory())
		require.Contains(t, r.Err.GetMessage(), want)
	}
}

func TestLogReachesTheKernel(t *testing.T) {
	itself := map[int]any{}
	itself[7] = itself
	h := start(t, func(_ context.Context, c *call, _ doIn) (doOut, error) {
		c.Log().With("a", 1).WithGroup("g").Warn("look out", "b", "two", "err", fs.ErrClosed, "wait", time.Second, "itself", itself)
		return doOut{}, nil
	})
	h.Call(t.Context(), "do", map[string]any{"what": "it"})
	require.Len(t, h.Logs(), 1, "a log entry comes before the end of its call")
	entry := h.Logs()[0]
	require.Equal(t, "look out", entry.GetMessage())
	require.Equal(t, "probe.do", entry.GetLogger())
	fields := entry.GetFields().AsMap()
	require.Contains(t, fields["g.itself"], "7")
	delete(fields, "g.itself")
	require.Equal(t, map[string]any{"a": 1.0, "g.b": "two", "g.err": "file already closed", "g.wait": "1s"}, fields)
}

func TestFaultsOfTheProgramPanicWithTheName(t *testing.T) {
	run := func(context.Context, *call, doIn) (doOut, error) { return doOut{}, nil }
	for _, test := range []struct {
		name  string
		build func()
		want  string
	}{
		{"a name twice", func() { p := with(run); sdk.Tool(p, "do", "Does it.", run) }, `sdk: provider "probe": "do" is registered twice`},
		{"a name no client takes", func() { sdk.Tool(with(run), "do it", "Does it.", run) }, `operation name "do it"`},
		{"arguments that cannot be described", func() {
			sdk.Tool(with(run), "bad", "", func(context.Context, *call, struct {
				M map[string]int `json:"m"`
			}) (doOut, error) {
				return doOut{}, nil
			})
		}, "sdk: probe.bad: arguments: "},
		{"a tool without a description", func() { sdk.Tool(with(run), "other", "", run) }, `operation "other" has no description`},
		{"a default in a result", func() {
			sdk.Tool(with(run), "bad", "Does it.", func(context.Context, *call, doIn) (struct {
				Lines []struct {
					N int `json:"n" default:"7"`
				} `json:"lines"`
			}, error) {
				panic("never called")
			})
		}, "sdk: probe.bad: result: lines[].n has a default"},
		{"a provider without operations", func() {
			sdktest.Start(t, sdk.New[struct{}]("bare", "For tests."), nil)
		}, `sdk: provider "bare" has no operations`},
		{"a tool without a function", func() { sdk.Tool[config, doIn, doOut](with(run), "other", "Does it.", nil) }, "sdk: probe.other has no function"},
		{"a risk that is none", func() { sdk.Tool(with(run), "other", "Does it.", run).Mutates(sdk.Risk(1)) }, "sdk: other: a mutating operation has the risk"},
		{"a timeout that leaves no time", func() { sdk.Tool(with(run), "other", "Does it.", run).Timeout(0) }, "sdk: other: a timeout of 0s"},
		{"a provider's name that no configuration takes", func() { sdk.New[config]("my provider", "") }, `sdk: provider name "my provider"`},
		{"a version that is none", func() { with(run).Version("1.2") }, `sdk: provider "probe": version "1.2" is not MAJOR.MINOR.PATCH`},
		{"a branch for a version", func() { with(run).Version("vmain") }, `version "vmain" is not MAJOR.MINOR.PATCH`},
		{"Show after Render", func() {
			sdk.Tool(with(run), "other", "Does it.", run).
				Render(func(doIn, doOut) string { return "" }).Show(func(doOut) render.Node { return nil })
		}, "sdk: other has Show and Render"},
		{"Render after Show", func() {
			sdk.Tool(with(run), "other", "Does it.", run).
				Show(func(doOut) render.Node { return nil }).Render(func(doIn, doOut) string { return "" })
		}, "sdk: other has Show and Render"},
		{"an argument that no command line takes", func() {
			sdk.Tool(with(run), "other", "Does it.", func(context.Context, *call, struct {
				N int `json:"line count"`
			}) (doOut, error) {
				panic("never called")
			})
		}, "sdk: probe.other: arguments: field "},
		{"an operation that comes too late", func() {
			p := with(run)
			sdktest.Start(t, p, map[string]any{"root": "/"})
			sdk.Tool(p, "late", "Does it.", run)
		}, `"late" comes too late`},
		{"a key that is no argument", func() { sdk.Tool(with(run), "other", "Does it.", run).Concurrent("path") }, `no argument "path"`},
		{"a configuration that cannot be described", func() {
			sdk.New[struct {
				C chan int `hcl:"c"`
			}]("bad", "")
		}, `sdk: provider "bad"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func() { require.Contains(t, fmt.Sprint(recover()), test.want) }()
			test.build()
		})
	}
}
