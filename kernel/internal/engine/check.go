package engine

import (
	"github.com/agentco/agent/kernel/internal/host"
	"github.com/agentco/agent/kernel/internal/schema"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// check finds what is wrong with a request before anybody is asked to do anything about it.
func (s *Session) check(r Request) *toolv1.ToolError {
	op := r.Operation
	if _, err := s.engine.provider(op.Provider); err != nil {
		return host.Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND, "%s was not run: %v", op, err)
	}
	if err := s.sees(op); err != nil {
		return host.Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED, "%s was not run: %v", op, err)
	}
	return checkArguments(op, r.Arguments)
}

// checkArguments names every argument that does not fit; details hold the first as "argument".
func checkArguments(op Operation, args *structpb.Struct) *toolv1.ToolError {
	problems := schema.Arguments(op.Input, args)
	if len(problems) == 0 {
		return nil
	}
	err := host.Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS,
		"%s was not run, its arguments do not fit: %s", op, schema.Describe(problems))
	err.Details = &structpb.Struct{Fields: map[string]*structpb.Value{
		"argument": structpb.NewStringValue(problems[0].Path),
	}}
	return err
}
