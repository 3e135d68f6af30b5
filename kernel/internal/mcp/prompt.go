package mcp

import (
	"context"
	"slices"
	"strings"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/paint"
	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// prompt describes a slash command to a client.
func prompt(name string, op engine.Operation) *sdk.Prompt {
	p := &sdk.Prompt{Name: name, Title: paint.Line(op.String()), Description: description(op)}
	for _, argument := range argumentNames(op.Input) {
		p.Arguments = append(p.Arguments, &sdk.PromptArgument{
			Name: argument, Description: paint.Text(op.Input.GetProperties()[argument].GetDescription()),
			Required: slices.Contains(op.Input.GetRequired(), argument),
		})
	}
	return p
}

// getPrompt runs a slash command; what comes of it is the prompt. What failed is an error of the protocol, as prompts have
// no other.
func (s *Server) getPrompt(ctx context.Context, r *sdk.GetPromptRequest, op engine.Operation) (*sdk.GetPromptResult, error) {
	args, err := typedArguments(op.Input, r.Params.Arguments)
	if err != nil {
		return nil, invalid(err)
	}
	q := s.request(r.Session, r.ClientCapabilities(), r.ClientInfo(), r.ProtocolVersion())
	q.Operation, q.Arguments = op, args
	q.state, q.answers, q.token = r.Params.RequestState, r.Params.InputResponses, r.Params.GetProgressToken()
	reply, err := s.serve(ctx, q)
	switch {
	case err != nil:
		return nil, err
	case reply.questions != nil:
		nothing := []*sdk.PromptMessage{} // which nil would write as null
		return &sdk.GetPromptResult{Messages: nothing, InputRequests: reply.questions, RequestState: reply.state}, nil
	case reply.ending.Status != engine.Completed:
		return nil, promptError(reply.ending)
	}
	return &sdk.GetPromptResult{
		Description: description(op),
		Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: readable(reply.ending)}}},
	}, nil
}

func promptError(end ending) error {
	code := int64(codeFailed)
	if end.Error.GetCategory() == toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS {
		code = jsonrpc.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: explained(end)}
}

// mostCompletions is what the protocol allows.
const mostCompletions = 100

// complete offers values for an argument of a prompt, where its schema knows them.
func (s *Server) complete(_ context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	result := &sdk.CompleteResult{}
	result.Completion.Values = []string{}
	if r.Params.Ref == nil || r.Params.Ref.Type != "ref/prompt" {
		return result, nil
	}
	op, ok := s.command(r.Params.Ref.Name)
	if !ok {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no prompt " + paint.Line(r.Params.Ref.Name)}
	}
	values := choices(op.Input.GetProperties()[r.Params.Argument.Name])
	for _, value := range values {
		if strings.HasPrefix(value, r.Params.Argument.Value) && len(result.Completion.Values) < mostCompletions {
			result.Completion.Values = append(result.Completion.Values, value)
		}
	}
	result.Completion.Total = len(result.Completion.Values)
	return result, nil
}

func choices(s *schemav1.Schema) []string {
	switch s.GetType() {
	case schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN:
		return []string{"false", "true"}
	case schemav1.SchemaType_SCHEMA_TYPE_ARRAY:
		return choices(s.GetItems())
	default:
		return s.GetEnumValues()
	}
}
