package host

import (
	"time"

	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Operation is a tool or a slash command: what one provider can be asked to do. The messages in it are shared and not
// to be changed.
type Operation struct {
	// Provider is the name in agent.hcl.
	Provider string
	// Category is CATEGORY_TOOL or CATEGORY_SLASHCOMMAND.
	Category    commonv1.Category
	Name        string
	Description string
	Kind        toolv1.ToolKind
	Risk        toolv1.RiskClass
	Input       *schemav1.Schema
	// Output is nil for a command.
	Output      *schemav1.Schema
	Concurrency *toolv1.ConcurrencySpec
	// Timeout is the deadline when nobody sets another; zero when the provider gives none.
	Timeout        time.Duration
	Streaming      bool
	Idempotent     bool
	TerminatesTurn bool
}

// String is the operation as a person types it: PROVIDER.TOOL or /COMMAND.
func (o Operation) String() string {
	if o.IsCommand() {
		return "/" + o.Name
	}
	return o.Provider + "." + o.Name
}

// IsCommand reports whether the operation is a slash command.
func (o Operation) IsCommand() bool {
	return o.Category == commonv1.Category_CATEGORY_SLASHCOMMAND
}

func fromTool(provider string, s *toolv1.ToolSchema) Operation {
	return Operation{
		Provider: provider, Category: commonv1.Category_CATEGORY_TOOL,
		Name: s.GetName(), Description: s.GetDescription(), Kind: s.GetKind(), Risk: s.GetRisk(),
		Input: s.GetInputSchema(), Output: s.GetOutputSchema(), Concurrency: s.GetConcurrency(),
		Timeout: positive(s.GetDefaultTimeout()), Streaming: s.GetStreaming(), Idempotent: s.GetIdempotent(),
		TerminatesTurn: s.GetTerminatesTurn(),
	}
}

func fromCommand(provider string, s *slashcommandv1.SlashCommandSpec) Operation {
	return Operation{
		Provider: provider, Category: commonv1.Category_CATEGORY_SLASHCOMMAND,
		Name: s.GetName(), Description: s.GetDescription(), Kind: s.GetKind(), Risk: s.GetRisk(),
		Input: s.GetInputSchema(), Concurrency: s.GetConcurrency(),
		Timeout: positive(s.GetDefaultTimeout()), Streaming: s.GetStreaming(), Idempotent: s.GetIdempotent(),
	}
}

func positive(d *durationpb.Duration) time.Duration {
	if d == nil || d.CheckValid() != nil {
		return 0
	}
	return max(d.AsDuration(), 0)
}
