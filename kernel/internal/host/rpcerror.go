package host

import (
	"fmt"
	"strings"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"
)

// Failure makes a ToolError.
func Failure(category toolv1.ToolErrorCategory, format string, args ...any) *toolv1.ToolError {
	return &toolv1.ToolError{Category: category, Message: strings.ToValidUTF8(fmt.Sprintf(format, args...), "\uFFFD")}
}

// unknown makes an UNKNOWN error, whose details carry the raw cause.
func unknown(cause, format string, args ...any) *toolv1.ToolError {
	e := Failure(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN, format, args...)
	e.Details = &structpb.Struct{Fields: map[string]*structpb.Value{"cause": structpb.NewStringValue(cause)}}
	return e
}

// rejection is the ToolError in the details of a failed RPC, or nil.
func rejection(err error) *toolv1.ToolError {
	for _, detail := range status.Convert(err).Details() {
		if e, ok := detail.(*toolv1.ToolError); ok {
			return e
		}
	}
	return nil
}

// Refusal is what a provider says against a call in the error of its Preview; nil when it says nothing.
func Refusal(err error) *toolv1.ToolError {
	if e := rejection(err); e != nil && checkError(e) == nil {
		return e
	}
	return nil
}

// toolError is what a failed RPC means: what the provider put into the status, else what its code says.
func toolError(what string, err error) *toolv1.ToolError {
	if e := Refusal(err); e != nil {
		return e
	}
	s := status.Convert(err)
	if s.Code() == codes.ResourceExhausted {
		return unknown(s.String(), "%s: a message was too large for the connection (%s): ask for less at once", what, s.Message())
	}
	category, ok := categories[s.Code()]
	if !ok {
		return unknown(s.String(), "%s failed without saying why: %s", what, s.Message())
	}
	return Failure(category, "%s: %s", what, s.Message())
}

var categories = map[codes.Code]toolv1.ToolErrorCategory{
	codes.InvalidArgument:    toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS,
	codes.NotFound:           toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND,
	codes.PermissionDenied:   toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED,
	codes.FailedPrecondition: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED,
	codes.DeadlineExceeded:   toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_TIMEOUT,
	codes.Aborted:            toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CONCURRENCY_CONFLICT,
	codes.Canceled:           toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED,
}

// absent reports whether a provider does not have the RPC at all.
func absent(err error) bool { return status.Code(err) == codes.Unimplemented }

// lost reports whether the connection, rather than the provider, ended an RPC.
func lost(err error) bool { return status.Code(err) == codes.Unavailable }
