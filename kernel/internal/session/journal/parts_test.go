package journal_test

import (
	"context"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/session/journal"
	planv1 "github.com/agentco/agent/proto/pluggableharness/plan/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// timed adds up the time that calls spend in each part of a journal.
type timed struct {
	*journal.Journal
	called, planned, event, flush, ended time.Duration
}

func (j *timed) Called(n engine.CalledNote) {
	defer since(&j.called, time.Now())
	j.Journal.Called(n)
}

func (j *timed) Planned(turn string, item *planv1.PlanItem) {
	defer since(&j.planned, time.Now())
	j.Journal.Planned(turn, item)
}

func (j *timed) Event(id string, e *toolv1.ToolEvent) {
	defer since(&j.event, time.Now())
	j.Journal.Event(id, e)
}

func (j *timed) Flush(ctx context.Context) error {
	defer since(&j.flush, time.Now())
	return j.Journal.Flush(ctx)
}

func (j *timed) Ended(o engine.Outcome) error {
	defer since(&j.ended, time.Now())
	return j.Journal.Ended(o)
}

func since(sum *time.Duration, begin time.Time) { *sum += time.Since(begin) }

// report says what a call spends in the journal, in microseconds.
func (j *timed) report(b *testing.B, calls int) {
	var all time.Duration
	for name, sum := range map[string]time.Duration{"called": j.called, "planned": j.planned, "event": j.event, "flush": j.flush, "ended": j.ended} {
		all += sum
		b.ReportMetric(float64(sum.Nanoseconds())/1000/float64(calls), name+"-us")
	}
	b.ReportMetric(float64(all.Nanoseconds())/1000/float64(calls), "log-us")
}
