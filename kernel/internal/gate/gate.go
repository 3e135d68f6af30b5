// Package gate stands between a call and its provider: it asks the policy, makes a plan of what must be asked about,
// and lets nothing through that was not clearly allowed. It has no transport: previews come through a function.
package gate

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/agentco/agent/kernel/internal/policy"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// Call is what the gate decides on.
type Call struct {
	ID          string
	Provider    string
	Operation   string
	Category    commonv1.Category
	Kind        toolv1.ToolKind
	Risk        toolv1.RiskClass
	Description string
	Arguments   *structpb.Struct
	// Within is what Check holds changed arguments to. The gate itself does not look at it.
	Within *policy.Fence
	// Deadline is how long the call may take where that is less than its operation asks for; zero where it is not.
	Deadline time.Duration
	// Later says that other calls come first, which may change what this one finds: a refusal at its preview is not the
	// last word then.
	Later bool
}

// String is the call as a person types it: PROVIDER.TOOL or /COMMAND.
func (c Call) String() string {
	if c.Category == commonv1.Category_CATEGORY_SLASHCOMMAND {
		return "/" + c.Operation
	}
	return c.Provider + "." + c.Operation
}

// Question is an item of a plan that has to be approved.
type Question struct {
	*planv1.PlanItem
	// Offer is what may be approved with it for the rest of the session; nil when that is nothing.
	Offer *Grant
	// Problem says why the arguments that Revise was given were not taken; the item is then as it was before.
	Problem string

	call Call
	gate *Gate
}

// CoveredBy reports whether a grant that was given for another item is about this one as well.
func (q Question) CoveredBy(grant *Grant) bool {
	return q.gate != nil && grant.covers(q.gate.forPolicy(q.call), q.call)
}

// Answer is what an Approver says to one item.
type Answer struct {
	Approved bool
	// Session approves what the question offers as well, until the Gate is gone. It means nothing without Approved.
	Session bool
	// Revised is what Question.Revise made of the question, when it did: the answer is about that.
	Revised *Question
	// By says who answered, and for how long, such as "person" or "--yes".
	By string
	// Reason is why the item was refused; it may be empty.
	Reason string
}

// Approver asks someone about the items of a plan. It returns one answer for each question, in the same order; an error,
// or any other number of answers, refuses all of them. It is called once a turn at most. It returns
// when ctx is done.
type Approver interface {
	Approve(ctx context.Context, questions []Question) ([]Answer, error)
}

// ApproverFunc is a function that is an Approver.
type ApproverFunc func(ctx context.Context, questions []Question) ([]Answer, error)

// Approve calls f.
func (f ApproverFunc) Approve(ctx context.Context, questions []Question) ([]Answer, error) {
	return f(ctx, questions)
}

// Previewer says what a call would do, without doing it. A *RefusalError is the provider's word that the call cannot
// succeed; any other error only means that there is nothing to show.
type Previewer func(ctx context.Context, call Call) (*renderv1.RenderTree, error)

// RefusalError is what a provider has against a call when it is asked to preview it.
type RefusalError struct{ Reason *toolv1.ToolError }

func (e *RefusalError) Error() string { return e.Reason.GetMessage() }

// Gate decides on calls. Its methods may be called from many goroutines.
type Gate struct {
	// Policy decides first. Nil means no rules.
	Policy *policy.Set
	// Approver is asked about what the policy leaves open. Nil means that nobody can answer, so nothing is approved.
	Approver Approver
	// Preview describes the items that are asked about.
	Preview Previewer
	// Check finds what is wrong with the arguments of a call that an answer changed. Nil finds nothing.
	Check func(Call) *toolv1.ToolError
	// Place is what the paths in arguments are read against.
	Place policy.Place
	Log   *slog.Logger

	mu     sync.Mutex // guards grants
	grants []*Grant
}

// rules are the policy, which may have none.
func (g *Gate) rules() *policy.Set {
	if g.Policy == nil {
		return &policy.Set{}
	}
	return g.Policy
}

// forPolicy is a call as the policy sees it.
func (g *Gate) forPolicy(c Call) policy.Call {
	return policy.Call{
		Provider: c.Provider, Operation: c.Operation, Kind: c.Kind, Risk: c.Risk, Arguments: c.Arguments, Place: g.Place,
	}
}
