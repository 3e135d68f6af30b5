package hosttest

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/agentco/agent/proto/plugin"
	"google.golang.org/grpc/metadata"
)

// lates are channels that are closed when calls of late have ended, by call.
var lates sync.Map

// late ends as if its cancellation came after its end: with a result that is too large to arrive before somebody reads it,
// and no report.
func late(c call) error {
	ended := make(chan struct{})
	defer close(ended)
	lates.Store(c.GetId(), ended)
	if err := c.progress("almost done"); err != nil {
		return err
	}
	return c.result(map[string]any{"text": strings.Repeat("x", 1<<20)})
}

// slowly are channels that are closed when calls of starved have been reported, by call.
var slowly sync.Map

// starved reports its cancellation as late as on a machine that has no time for it.
func starved(c call) error {
	reported := make(chan struct{})
	defer close(reported)
	slowly.Store(c.GetId(), reported)
	if err := c.progress("begun"); err != nil {
		return err
	}
	<-c.ctx.Done()
	time.Sleep(7 * time.Second)
	c.report(c.GetId(), "it took a while", nil, "")
	return c.ctx.Err()
}

// answer reports a call of late that the kernel asks about, and waits for the report of one of starved.
func (f *fixture) answer(ctx context.Context) {
	for _, id := range metadata.ValueFromIncomingContext(ctx, plugin.ReportHeader) {
		if reported, found := slowly.Load(id); found {
			<-reported.(chan struct{})
		}
	}
	for _, id := range metadata.ValueFromIncomingContext(ctx, plugin.ReportHeader) {
		if ended, found := lates.LoadAndDelete(id); found {
			<-ended.(chan struct{})
			f.report(id, "it was done already", map[string]any{"done": 1}, "")
		}
	}
}
