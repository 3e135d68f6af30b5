package hosttest

import (
	"context"
	"strings"
	"sync"

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

// answer reports a call of late that the kernel asks about.
func (f *fixture) answer(ctx context.Context) {
	for _, id := range metadata.ValueFromIncomingContext(ctx, plugin.ReportHeader) {
		if ended, found := lates.LoadAndDelete(id); found {
			<-ended.(chan struct{})
			f.report(id, "it was done already", map[string]any{"done": 1}, "")
		}
	}
}
