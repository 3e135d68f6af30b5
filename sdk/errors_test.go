package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
	"github.com/agentco/agent/sdk/sdktest"
)

// failing is the error event of a call that returns err.
func failing(t *testing.T, err error) *toolv1.ToolError {
	t.Helper()
	h := start(t, func(context.Context, *call, doIn) (doOut, error) { return doOut{}, err })
	r := h.Call(t.Context(), "do", map[string]any{"what": "x"})
	require.NoError(t, r.Status)
	require.NotNil(t, r.Err)
	return r.Err
}

type strictError struct{ reason string }

func (e *strictError) Error() string { return e.reason }

// TestAnErrorThatCannotBeReadEndsTheCallAlone: the nil pointer of a concrete type is the classic one.
func TestAnErrorThatCannotBeReadEndsTheCallAlone(t *testing.T) {
	var none *sdk.Error
	var strict *strictError
	for _, test := range []struct {
		name string
		err  error
	}{
		{"a nil error of the SDK", none},
		{"one inside another", fmt.Errorf("writing: %w", none)},
		{"a nil error of the provider", strict},
		{"one among several", errors.Join(fs.ErrClosed, none)},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := failing(t, test.err)
			require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN, e.GetCategory())
			require.NotEmpty(t, e.GetMessage())
		})
	}
	require.Contains(t, failing(t, none).GetMessage(), "nil in a variable of a pointer type is an error too")
}

func TestAnErrorThatCannotBeReadRefusesOnly(t *testing.T) {
	p := sdk.New[struct{}]("careless", "For tests.")
	p.Setup(func(context.Context, *struct{}, sdk.Env) error {
		var none *sdk.Error
		return none
	})
	sdk.Tool(p, "greet", "Greet somebody.", greet)
	require.Contains(t, sdktest.ToolError(sdktest.Configure(t, p, nil)).GetMessage(), "reading its error")
}

// Who asks gets an answer, whichever function of the provider ended its goroutine; and a call its result when that was there.
func TestAFunctionThatEndsItsGoroutine(t *testing.T) {
	vanish := func() { runtime.Goexit() }
	const said = "ended its goroutine instead of returning"
	t.Run("that of a call", func(t *testing.T) {
		h := start(t, func(context.Context, *call, doIn) (doOut, error) {
			vanish()
			return doOut{}, nil
		})
		for range 2 { // the turn of the key is free again
			r := h.Call(t.Context(), "do", map[string]any{"what": "x"})
			require.NoError(t, r.Status)
			require.Contains(t, r.Err.GetMessage(), said)
		}
	})
	did := func(_ context.Context, _ *call, in doIn) (doOut, error) { return doOut{in.What}, nil }
	t.Run("Setup", func(t *testing.T) {
		p := with(did).Setup(func(context.Context, *config, sdk.Env) error { vanish(); return nil })
		tools, _ := served(t, p, nil)
		_, err := tools.Configure(t.Context(), &toolv1.ConfigureRequest{Config: object(t, map[string]any{"root": "/"})})
		require.ErrorContains(t, err, said)
	})
	t.Run("Preview and Show", func(t *testing.T) {
		p := sdk.New[config]("probe", "For tests.")
		sdk.Tool(p, "do", "Does it.", did).
			Preview(func(*call, doIn) (sdk.Plan, error) { vanish(); return sdk.Plan{}, nil }).
			Show(func(doOut) render.Node { vanish(); return nil })
		tools := attached(t, p, nil)
		_, err := tools.Preview(t.Context(), &toolv1.PreviewRequest{Call: &toolv1.ToolCall{ToolName: "do", Arguments: object(t, map[string]any{"what": "it"})}})
		require.ErrorContains(t, err, said)
		_, err = tools.Render(t.Context(), &toolv1.RenderRequest{SchemaVersion: plugin.SchemaVersion, Payload: []byte(`{"did":"it"}`)})
		require.ErrorContains(t, err, said)
		require.Nil(t, sentAlong(t, tools, "it", true))
	})
}

func TestWhatErrorsSay(t *testing.T) {
	require.Equal(t, "100%d: is bad", sdk.InvalidArgument("100%d", "is %s", "bad").Message)
	require.Equal(t, "a%s: is bad", sdk.BadField("a%s", "is %s", "bad").Message)
	require.NotEmpty(t, failing(t, errors.New("")).GetMessage())
	require.NotEmpty(t, failing(t, sdk.Failed("")).GetMessage())

	several := sdk.Failed("%w, then %w", fs.ErrNotExist, fs.ErrClosed)
	require.ErrorIs(t, several, fs.ErrNotExist)
	require.ErrorIs(t, several, fs.ErrClosed)
}

func TestDetailsKeepTheirForm(t *testing.T) {
	type label string
	itself := map[string]any{}
	itself["itself"] = itself
	deep := map[string]any{}
	for range 5000 {
		deep = map[string]any{"deeper": deep}
	}
	e := sdk.Failed("failed")
	for key, value := range map[string]any{
		"ints": []int{1, 2}, "strings": []string{"a", "b\xff"}, "map": map[string]string{"a": "b"}, "label": label("x"),
		"labels": map[label][]label{"l": {"x"}}, "maps": []map[string]any{{"a": 1}}, "struct": struct {
			A int `json:"a"`
		}{1},
		"wait": time.Second, "at": time.Unix(0, 0).UTC(), "cause": fs.ErrClosed, "nan": math.NaN(), "infinite": []float64{math.Inf(-1)},
		"exact": 1 << 53, "long": int64(1<<53 + 1), "longer": uint64(math.MaxUint64), "least": int64(math.MinInt64),
		"nothing": nil, "none": []int(nil), "bytes": []byte("text"), "no error": (*strictError)(nil), "numbered": map[int]bool{7: true},
	} {
		e = e.With(key, value)
	}
	got := failing(t, e).GetDetails().AsMap()
	require.NotEmpty(t, got["no error"])
	delete(got, "no error")
	require.Equal(t, map[string]any{
		"ints": []any{1.0, 2.0}, "strings": []any{"a", "b\uFFFD"}, "map": map[string]any{"a": "b"}, "label": "x",
		"labels": map[string]any{"l": []any{"x"}}, "maps": []any{map[string]any{"a": 1.0}}, "struct": map[string]any{"a": 1.0},
		"wait": "1s", "at": "1970-01-01T00:00:00Z", "cause": "file already closed", "nan": "NaN", "infinite": []any{"-Inf"},
		"exact": float64(1 << 53), "long": "9007199254740993", "longer": "18446744073709551615", "least": "-9223372036854775808",
		"nothing": nil, "none": []any{}, "bytes": "text", "numbered": map[string]any{"7": true},
	}, got)

	numbered := map[int]any{}
	numbered[7] = numbered
	for _, endless := range []any{itself, deep, numbered, struct{ M any }{itself}, &struct{ M any }{numbered}} {
		require.NotEmpty(t, failing(t, sdk.Failed("failed").With("m", endless)).GetDetails().AsMap()["m"])
	}
}
