package engine

import (
	"time"

	"github.com/agentco/agent/kernel/internal/policy"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// Request is one call that is wanted.
type Request struct {
	Operation Operation
	// Arguments may be nil when there are none.
	Arguments *structpb.Struct
	// Within is where the paths of the call have to be; it is denied when they are not. Nil: anywhere.
	Within *policy.Fence
	// Timeout is the deadline that the caller sets. Zero: the provider's, the operation's, else two minutes.
	Timeout time.Duration
	// CallID is what the call is known by; it must be unique. Default: a new one.
	CallID string
	// After are the requests before this one in the same turn, by index, that must have come to a good end before it
	// begins. When one of them has not, the call is skipped.
	After []int
	// Began is told that the call is about to reach its provider; its error keeps the call from being made. It may be nil.
	Began func() error
	// Render says that the result is going to be shown: it is rendered while the end of the call is being logged.
	Render bool
	// Ended is told how the call ended, but for its Rendering, while others of the turn may still run. It may be nil.
	Ended func(Outcome)
}

// Sink receives the events of a call, each once and in order, from one goroutine at a time; the provider waits while
// it works. A call that reached its provider ends with a result or an error, as the kernel judged it, unless it was
// cancelled: then what the provider reported afterwards (output, a partial_result with its note) comes last. A call
// that was denied, or refused before it ran, has no events. Before a call is made again there is a progress event that
// says so, and then come those of the next attempt. A deadline is a cancellation too, except that an error ends it.
type Sink func(*toolv1.ToolEvent)

// Status is how a call ended.
type Status string

// Every way a call ends.
const (
	Completed Status = "completed"
	Failed    Status = "failed"
	Denied    Status = "denied"
	Cancelled Status = "cancelled"
	Crashed   Status = "crashed"
	// Skipped is a call that came after one without a good end: it was not run.
	Skipped Status = "skipped"
)

// Outcome is how a call ended, and all that is known of it.
type Outcome struct {
	CallID string
	// Operation is PROVIDER.TOOL or /COMMAND.
	Operation string
	Status    Status
	// Result is set exactly when Status is Completed.
	Result *structpb.Struct
	// Encoded is Result as codec.Marshal encodes it, so that whoever keeps it need not. Empty when that is not known.
	Encoded string
	// Rendering is how to show the Result. It is set exactly when that is, and the Request asked for it.
	Rendering *renderv1.RenderTree
	// Error is set exactly when Status is not Completed.
	Error *toolv1.ToolError
	// ExitStatus is set when the operation ran a child process that ended.
	ExitStatus *toolv1.ToolEvent_ExitStatus
	// Report is what the provider said of a call that was cancelled or timed out; nil when it said nothing.
	Report *Report
	// SkippedFor is the id of the call for which this one was skipped; empty unless Status is Skipped.
	SkippedFor string
	// DecidedBy says what let the call run, or did not: a policy, a flag, a person, a default. Empty when the
	// call was refused before that: its arguments did not fit, or its provider could not even preview it.
	DecidedBy string
	// Plan is the item that was asked about; nil when nothing was asked.
	Plan *planv1.PlanItem
	// Waited is the time from the request to the start of the call: approval and schedule.
	Waited time.Duration
	// Attempts is how often the call reached its provider: more than once when it was made again after it failed.
	Attempts int
	// Took is the time from the first attempt to the end of the last one.
	Took time.Duration
}

// Good reports whether the call did what it was for: it completed, and what it ran, if anything, ended with exit code 0.
func (o Outcome) Good() bool {
	return o.Status == Completed && o.ExitStatus.GetExitCode() == 0 && o.ExitStatus.GetSignal() == ""
}

// Ending says how the call ended, as what comes behind "which".
func (o Outcome) Ending() string {
	switch o.Status {
	case Completed:
		if !o.Good() {
			return "ran something that failed"
		}
		return string(o.Status)
	case Failed, Crashed:
		return string(o.Status)
	default:
		return "was " + string(o.Status)
	}
}
