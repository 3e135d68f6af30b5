package history

import (
	"time"

	"github.com/agentco/agent/kernel/internal/policy"
	"github.com/agentco/agent/kernel/internal/session"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// Call is one call, as far as the log tells of it.
type Call struct {
	ID, TurnID string
	// Tool is the operation's name, without the provider's; empty when the log has lost it.
	Tool string
	// Producer answers for the operation.
	Producer session.Producer
	// asked are the arguments that it was asked for with.
	asked      *structpb.Struct
	WorkingDir string
	// Lost says that the log has no beginning of it: when it was asked for, and with what, is not known.
	Lost bool
	// Began is when it was asked for; of a lost call, when the log first tells of it. Decided is when it was decided about,
	// and zero when nothing had to be; Ended is zero when no end is known.
	Began, Decided, Ended time.Time
	Status                string
	// Plan is what was decided about it; nil when nothing had to be.
	Plan   *planv1.PlanItem
	Result *structpb.Struct
	Error  *toolv1.ToolError
}

// String is the call as a person types it: PROVIDER.TOOL or /COMMAND.
func (c *Call) String() string { return Operation(c.Producer, c.Tool) }

// Operation is an operation as a person types it, with a question mark for what is not known of it.
func Operation(p session.Producer, tool string) string {
	switch {
	case tool == "" && p.Name == "":
		return unknown
	case tool == "":
		tool = unknown
	}
	if p.Category == "slashcommand" {
		return "/" + tool
	}
	return p.Name + "." + tool
}

const unknown = "?"

// Arguments are those that it ran with, or would have: the ones that were decided about, which a person may have edited.
func (c *Call) Arguments() *structpb.Struct {
	if input := c.Plan.GetInput(); input != nil {
		return input
	}
	return c.asked
}

// Requested are the arguments that it was asked for with, when they are others than Arguments; nil when they are not.
func (c *Call) Requested() *structpb.Struct {
	if c.Lost || proto.Equal(c.asked, c.Arguments()) || len(c.asked.GetFields())+len(c.Arguments().GetFields()) == 0 {
		return nil
	}
	if c.asked == nil {
		return &structpb.Struct{}
	}
	return c.asked
}

// DecidedBy says who or what decided that the call may run, or may not. What completed without a plan was let through by
// the default, which is the only decision that is not kept. It is empty when nothing was decided, or it is not known.
func (c *Call) DecidedBy() string {
	if c.Plan == nil && !c.Lost && c.Status == Completed {
		return policy.FreeByDefault
	}
	return c.Plan.GetDecidedBy()
}

// LostNote says what is missing of a lost call, and which one it is; it is empty for any other.
func (c *Call) LostNote() string {
	if !c.Lost {
		return ""
	}
	return "the log has lost the beginning of " + c.ID
}

// Took is the time from the decision, or the request when there was none, to the end; zero without one, or when neither is
// known. The time that a person took to answer is no part of it.
func (c *Call) Took() time.Duration {
	if c.Ended.IsZero() || c.Lost && c.Decided.IsZero() {
		return 0
	}
	begun := c.Began
	if c.Decided.After(begun) {
		begun = c.Decided
	}
	return c.Ended.Sub(begun)
}
