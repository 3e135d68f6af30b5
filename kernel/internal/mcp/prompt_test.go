package mcp

import (
	"context"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/schema"
	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

func TestPrompts(t *testing.T) {
	k := start(t, nil, nil)
	forEachVersion(t, func(t *testing.T, version string) {
		s := k.connect(t, nil, version)
		list, err := s.ListPrompts(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, list.Prompts, 2)
		require.Equal(t, "hello", list.Prompts[0].Name)
		require.Equal(t, "/hello", list.Prompts[0].Title)
		require.Equal(t, "name", list.Prompts[0].Arguments[0].Name)
		got, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "hello", Arguments: map[string]string{"name": "you"}})
		require.NoError(t, err)
		require.Len(t, got.Messages, 1)
		require.EqualValues(t, "user", got.Messages[0].Role)
		require.Equal(t, "command {\"greeting\":\" you\"}\n", got.Messages[0].Content.(*sdk.TextContent).Text)
	})
}

func TestPromptsThatFail(t *testing.T) {
	k := start(t, nil, nil)
	s := k.connect(t, nil, "")
	for name, test := range map[string]struct {
		params *sdk.GetPromptParams
		code   int64
		want   string
	}{
		"no such prompt":        {&sdk.GetPromptParams{Name: "none"}, jsonrpc.CodeInvalidParams, "none"},
		"no such argument":      {&sdk.GetPromptParams{Name: "hello", Arguments: map[string]string{"nam": "x"}}, jsonrpc.CodeInvalidParams, `did you mean "name"`},
		"a change, nobody asks": {&sdk.GetPromptParams{Name: "tidy"}, codeFailed, "--approve '/tidy'"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.GetPrompt(t.Context(), test.params)
			var wire *jsonrpc.Error
			require.ErrorAs(t, err, &wire)
			require.Equal(t, test.code, wire.Code)
			require.Contains(t, wire.Message, test.want)
		})
	}
}

// A command that changes something asks first, as a tool does.
func TestPromptThatChanges(t *testing.T) {
	k := start(t, nil, nil)
	forEachVersion(t, func(t *testing.T, version string) {
		for _, answer := range []string{decideDeny, decideApprove} {
			before := len(k.kept.outcomes())
			began := make(chan struct{}, 1)
			s := k.connect(t, &sdk.ClientOptions{
				ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					require.Contains(t, r.Params.Message, "/tidy (fixture) wants to change something (risk low)")
					require.Contains(t, r.Params.Message, "│ would run /tidy")
					return &sdk.ElicitResult{Action: "accept", Content: map[string]any{fieldDecision: answer}}, nil
				},
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
					if r.Params.Message == "tidying" {
						began <- struct{}{}
					}
				},
			}, version)
			ctx, cancel := context.WithCancel(t.Context())
			failed := make(chan error, 1)
			go func() {
				p := &sdk.GetPromptParams{Name: "tidy"}
				p.SetProgressToken("t")
				_, err := s.GetPrompt(ctx, p)
				failed <- err
			}()
			if answer == decideDeny {
				require.ErrorContains(t, <-failed, "refused by the person")
				require.Equal(t, engine.Denied, k.kept.outcomes()[before].Status)
			} else {
				<-began // it runs, and would for ever
				cancel()
				require.Error(t, <-failed) // before it has ended
				require.Eventually(t, func() bool { return len(k.kept.outcomes()) > before }, time.Minute, time.Millisecond)
			}
			cancel()
		}
	})
}

func TestCompletion(t *testing.T) {
	k := start(t, nil, func(o *Options) {
		all := o.Engine.Operations()
		for i, op := range all {
			if op.Name == "hello" {
				all[i].Input = &schemav1.Schema{Type: object, Properties: map[string]*schemav1.Schema{
					"section": {Type: str, EnumValues: []string{"Added", "Changed", "Fixed"}},
					"loud":    {Type: schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN}, "name": {Type: str},
				}}
			}
		}
		o.Operations = func() []engine.Operation { return all }
	})
	s := k.connect(t, nil, "")
	complete := func(prompt, argument, value string) ([]string, error) {
		r, err := s.Complete(t.Context(), &sdk.CompleteParams{
			Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: prompt}, Argument: sdk.CompleteParamsArgument{Name: argument, Value: value},
		})
		if err != nil {
			return nil, err
		}
		return r.Completion.Values, nil
	}
	for _, test := range []struct {
		argument, value string
		want            []string
	}{
		{"section", "", []string{"Added", "Changed", "Fixed"}},
		{"section", "Ch", []string{"Changed"}},
		{"loud", "t", []string{"true"}},
		{"name", "", []string{}},
		{"nothing", "", []string{}},
	} {
		got, err := complete("hello", test.argument, test.value)
		require.NoError(t, err)
		require.Equal(t, test.want, got)
	}
	_, err := complete("none", "a", "")
	require.ErrorContains(t, err, "there is no prompt none")
}

func TestTypedArguments(t *testing.T) {
	s := &schemav1.Schema{Type: object, Properties: map[string]*schemav1.Schema{
		"n": {Type: schemav1.SchemaType_SCHEMA_TYPE_NUMBER}, "b": {Type: schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN}, "s": {Type: str},
		"l": {Type: array, Items: &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_NUMBER}}, "o": {Type: object},
	}}
	for _, test := range []struct{ name, text, want string }{
		{"n", " 7 ", `{"n":7}`},
		{"n", "seven", `{"n":"seven"}`}, // which the kernel's check refuses, with the reason
		{"b", "True", `{"b":true}`},
		{"s", "true", `{"s":"true"}`},
		{"s", "", `{}`},
		{"l", "7", `{"l":[7]}`},
		{"l", "[7, 8]", `{"l":[7,8]}`},
		{"o", `{"a":1}`, `{"o":{"a":1}}`},
		{"x", "y", `{"x":"y"}`},
	} {
		got, err := typedArguments(s, map[string]string{test.name: test.text})
		require.NoError(t, err)
		require.Equal(t, test.want, string(schema.AppendJSON(nil, got)))
	}
	_, err := typedArguments(s, map[string]string{"n": "12345678901234567890"})
	require.ErrorContains(t, err, "cannot be passed on exactly")
}
