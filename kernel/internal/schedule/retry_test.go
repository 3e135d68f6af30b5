package schedule

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/stretchr/testify/require"
)

const (
	reads  = toolv1.ToolKind_TOOL_KIND_DATA_SOURCE
	writes = toolv1.ToolKind_TOOL_KIND_RESOURCE
	asks   = toolv1.ToolKind_TOOL_KIND_INTERACTIVE

	timeout  = toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_TIMEOUT
	conflict = toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CONCURRENCY_CONFLICT
)

// usual is half a second, doubled each time, five times.
var usual = Retry{BaseDelay: 500 * time.Millisecond, Factor: 2, Max: 5}

func TestRepeatOf(t *testing.T) {
	tests := []struct {
		name       string
		kind       toolv1.ToolKind
		idempotent bool
		category   toolv1.ToolErrorCategory
		want       Repeat
	}{
		{"a reading call late", reads, false, timeout, Unchanged},
		{"a reading call in conflict", reads, false, conflict, Serialised},
		{"an idempotent change late", writes, true, timeout, Unchanged},
		{"an idempotent change in conflict", writes, true, conflict, Serialised},
		{"a change that may have acted, late", writes, false, timeout, Never},
		{"a change that may have acted, in conflict", writes, false, conflict, Never},
		{"a question late", asks, true, timeout, Never},
		{"a question in conflict", asks, true, conflict, Never},
		{"a kind that is none", toolv1.ToolKind_TOOL_KIND_UNSPECIFIED, true, timeout, Never},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := &toolv1.ToolError{Category: test.category, Retryable: true}
			require.Equal(t, test.want, RepeatOf(test.kind, test.idempotent, err))
			err.Retryable = false
			require.Equal(t, Never, RepeatOf(test.kind, test.idempotent, err), "the provider says that it is of no use")
		})
	}
	require.Equal(t, Never, RepeatOf(reads, true, nil))
}

// Every category that the table gives back is given back, whatever the provider says of retries.
func TestRepeatOfTheRestOfTheTable(t *testing.T) {
	for n, name := range toolv1.ToolErrorCategory_name {
		category := toolv1.ToolErrorCategory(n)
		if category == timeout || category == conflict {
			continue
		}
		require.Equal(t, Never, RepeatOf(reads, true, &toolv1.ToolError{Category: category, Retryable: true}), name)
	}
}

func TestDelay(t *testing.T) {
	at := func(jitter float64) Retry {
		r := usual
		r.Jitter = func() float64 { return jitter }
		return r
	}
	tests := []struct {
		name  string
		retry Retry
		n     int
		want  time.Duration
	}{
		{"first", at(0.5), 1, 500 * time.Millisecond},
		{"doubled", at(0.5), 2, time.Second},
		{"and again", at(0.5), 5, 8 * time.Second},
		{"bounded", at(0.5), 1000, maxDelay},
		{"least", at(0), 1, 250 * time.Millisecond},
		{"most", at(1), 1, 750 * time.Millisecond},
		{"a base above the bound", Retry{BaseDelay: time.Hour, Factor: 1, Jitter: func() float64 { return 0.5 }}, 1, maxDelay},
		{"no factor", Retry{BaseDelay: time.Second, Jitter: func() float64 { return 0.5 }}, 3, time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, test.retry.Delay(test.n)) })
	}
	for range 100 {
		d := usual.Delay(1)
		require.GreaterOrEqual(t, d, 250*time.Millisecond)
		require.Less(t, d, 750*time.Millisecond)
	}
}

// attempts plays answers one after another, the last for ever, and notes when each attempt was made and how.
type attempts struct {
	answers []Repeat
	began   time.Time
	at      []time.Duration
	how     []Repeat
	told    []int
}

func (a *attempts) attempt(how Repeat) Repeat {
	if a.began.IsZero() {
		a.began = time.Now()
	}
	a.at, a.how = append(a.at, time.Since(a.began)), append(a.how, how)
	return a.answers[min(len(a.at), len(a.answers))-1]
}

func (a *attempts) tell(retry int, _ time.Duration) { a.told = append(a.told, retry) }

func TestRun(t *testing.T) {
	const s = time.Second
	half := func() float64 { return 0.5 }
	tests := []struct {
		name    string
		max     int
		limit   time.Duration
		answers []Repeat
		at      []time.Duration
		how     []Repeat
	}{
		{"good at once", 5, 0, []Repeat{Never}, []time.Duration{0}, []Repeat{Never}},
		{"good at last", 5, 0, []Repeat{Unchanged, Serialised, Never}, []time.Duration{0, s, 3 * s}, []Repeat{Never, Unchanged, Serialised}},
		{"never good", 2, 0, []Repeat{Unchanged}, []time.Duration{0, s, 3 * s}, []Repeat{Never, Unchanged, Unchanged}},
		{"no retries wanted", 0, 0, []Repeat{Unchanged}, []time.Duration{0}, []Repeat{Never}},
		{"one deadline for all", 5, 4 * s, []Repeat{Unchanged}, []time.Duration{0, s, 3 * s}, []Repeat{Never, Unchanged, Unchanged}},
		{"no wait for a deadline", 5, s, []Repeat{Unchanged}, []time.Duration{0}, []Repeat{Never}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.limit)
					defer cancel()
				}
				a := &attempts{answers: test.answers}
				r := Retry{BaseDelay: s, Factor: 2, Max: test.max, Jitter: half}
				require.NoError(t, r.Run(ctx, a.attempt, a.tell))
				require.Equal(t, test.at, a.at)
				require.Equal(t, test.how, a.how)
				require.Len(t, a.told, len(a.at)-1)
				require.Equal(t, a.at[len(a.at)-1], time.Since(a.began), "nothing is waited for after the last attempt")
			})
		})
	}
}

func TestRunStopsWhenCancelled(t *testing.T) {
	enough := errors.New("enough")
	t.Run("during the wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(enough) })
			a := &attempts{answers: []Repeat{Unchanged}}
			err := Retry{BaseDelay: time.Minute, Factor: 1, Max: 5}.Run(ctx, a.attempt, a.tell)
			require.ErrorIs(t, err, enough)
			require.Len(t, a.at, 1)
			require.Equal(t, time.Second, time.Since(a.began))
		})
	})
	t.Run("during the attempt", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		a := &attempts{answers: []Repeat{Unchanged}}
		err := usual.Run(ctx, func(how Repeat) Repeat {
			cancel(enough)
			return a.attempt(how)
		}, a.tell)
		require.ErrorIs(t, err, enough)
		require.Len(t, a.at, 1)
		require.Empty(t, a.told)
	})
}
