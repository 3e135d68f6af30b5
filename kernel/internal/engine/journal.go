package engine

import (
	"context"

	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// Journal keeps what happens in a session. Notes are kept in the order they are made; its methods are called from many
// goroutines, and must not hold up a call longer than they have to.
type Journal interface {
	// Called notes a call that is wanted, before anything is known of it but its arguments. It returns at once.
	Called(CalledNote)
	// Planned notes an item of a plan that was asked about, with its decision. It returns at once.
	Planned(turnID string, item *planv1.PlanItem)
	// Event notes what a provider said during a call: all but its last event. It returns at once, and does not keep
	// the event itself beyond that.
	Event(callID string, event *toolv1.ToolEvent)
	// Flush returns when everything noted so far is safe from the end of this process. A call that changes something
	// waits for it, and does not run when it fails.
	Flush(ctx context.Context) error
	// Emitted keeps an event of a provider, and returns when that is safe: its id, and its place in the session. The error
	// is ErrNotKept when there is nowhere to keep it.
	Emitted(Emission) (id string, sequence int64, err error)
	// Ended notes how a call ended, and returns when that is safe from the end of this process.
	Ended(Outcome) error
}

// CalledNote is a call as it was asked for.
type CalledNote struct {
	CallID, TurnID string
	Request        Request
}

// noJournal keeps nothing.
type noJournal struct{}

func (noJournal) Called(CalledNote)                {}
func (noJournal) Planned(string, *planv1.PlanItem) {}
func (noJournal) Event(string, *toolv1.ToolEvent)  {}
func (noJournal) Flush(context.Context) error      { return nil }
func (noJournal) Emitted(Emission) (string, int64, error) {
	return "", 0, ErrNotKept
}
func (noJournal) Ended(Outcome) error { return nil }
