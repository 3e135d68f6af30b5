package schedule

import (
	"context"
	"math/rand/v2"
	"time"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// maxDelay is the longest wait before a retry, however many there were.
const maxDelay = 30 * time.Second

// Retry says how often a call that failed for a passing reason is made again, and how long after. Its zero value makes
// no retries.
type Retry struct {
	// BaseDelay is the wait before the first retry; each further one is Factor times as long, up to half a minute.
	BaseDelay time.Duration
	Factor    float64
	// Max is how many retries there are at most.
	Max int
	// Jitter is a number from 0 up to 1 that keeps calls which failed together from coming back together. Nil: a random
	// one each time.
	Jitter func() float64
}

// Delay is the wait before the nth retry, of which the first is 1: from half to one and a half of what BaseDelay and
// Factor make.
func (r Retry) Delay(n int) time.Duration {
	delay := float64(r.BaseDelay)
	for range n - 1 {
		delay = min(delay*max(r.Factor, 1), float64(maxDelay))
	}
	jitter := rand.Float64
	if r.Jitter != nil {
		jitter = r.Jitter
	}
	return time.Duration(min(delay, float64(maxDelay)) * (0.5 + jitter()))
}

// Repeat says how a call that failed may be made again.
type Repeat int

// The ways to make a call again.
const (
	// Never: what was answered is the answer.
	Never Repeat = iota
	// Unchanged: as it was made before.
	Unchanged
	// Serialised: one after another with every call of its provider that is about the same; see Claim.Serialised.
	Serialised
)

// RepeatOf says how a call may be made again after an error, by the error table of the protocol:
//
//	timeout               may be made again
//	concurrency_conflict  is made again serialised, since it ran beside what it should not have
//	every other category  is given back
//
// Either only if the provider says that it is worth it (retryable), and only if the call may run twice: one that reads,
// or one that changes something and is idempotent. Another one may have acted before it failed. What asks a person is
// never asked again by itself.
func RepeatOf(kind toolv1.ToolKind, idempotent bool, err *toolv1.ToolError) Repeat {
	twice := kind == toolv1.ToolKind_TOOL_KIND_DATA_SOURCE || kind == toolv1.ToolKind_TOOL_KIND_RESOURCE && idempotent
	if !twice || !err.GetRetryable() {
		return Never
	}
	switch err.GetCategory() {
	case toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_TIMEOUT:
		return Unchanged
	case toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CONCURRENCY_CONFLICT:
		return Serialised
	default:
		return Never
	}
}

// Run makes attempts until one says Never, the retries are used up, or ctx would be over before the next; the first
// attempt is made in any case. attempt is given how it is made again, Never for the first; it keeps for itself what
// came of it. before each wait tell is told which retry is coming and in how long. The error is that ctx was cancelled
// during a wait: the last attempt is then not the last word.
func (r Retry) Run(ctx context.Context, attempt func(Repeat) Repeat, tell func(retry int, wait time.Duration)) error {
	how := attempt(Never)
	for n := 1; n <= r.Max && how != Never; n++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		wait := r.Delay(n)
		if deadline, has := ctx.Deadline(); has && time.Until(deadline) <= wait {
			return nil
		}
		tell(n, wait)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		how = attempt(how)
	}
	return nil
}
