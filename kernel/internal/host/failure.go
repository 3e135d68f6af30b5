package host

import (
	"errors"
	"fmt"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// Stage is the part of a start that failed.
type Stage string

// The stages of a start, in order.
const (
	StageLaunch    Stage = "launch"
	StageHandshake Stage = "handshake"
	StageSchema    Stage = "schema"
	StageConfig    Stage = "config"
	StageConfigure Stage = "configure"
)

// StartError is why a provider could not be started. Its text is complete: what was attempted, why it failed, what to
// do, and the last lines the provider wrote.
type StartError struct {
	Provider string
	Path     string
	Stage    Stage
	// Cause of the failure. In StageConfig it is what ProviderSpec's Config returned, unchanged.
	Cause error
	// Rejection is what the provider said in StageConfigure; its details name the field. Nil in other stages, and
	// when Configure failed without saying why.
	Rejection *toolv1.ToolError
	// Output is the last of what the process wrote to stderr.
	Output []string

	crash int64 // what the failure is known by
}

// crashOf is what the failure of a start is known by; zero when there was no start.
func crashOf(err error) int64 {
	if failed, ok := errors.AsType[*StartError](err); ok {
		return failed.crash
	}
	return 0
}

// Error is the whole story, on several lines when the provider wrote something.
func (e *StartError) Error() string {
	text := fmt.Sprintf("provider %q: %s", e.Provider, e.Cause)
	for _, line := range e.Output {
		text += "\n  | " + line
	}
	return text
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Cause }

// Misconfigured reports whether it was the configuration that was wrong, and nothing else. A provider that failed at what it
// had to prepare, and blames no argument, may succeed another time.
func (e *StartError) Misconfigured() bool {
	if e.Rejection == nil {
		return e.Stage == StageConfig
	}
	return e.Rejection.GetCategory() != toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED ||
		e.Rejection.GetDetails().GetFields()["field"] != nil
}
